// The handler of HTTP requests to sessions.
// Owns:     the order in which a request is checked, and the response to whatever fails.
// Does not: know what a route does, or how a server reads requests.
// H3. Who it is comes first, from the headers. Then the session is loaded, and must be one that the caller may get; then a body is read;
//     then `authorize` decides about exactly what will run, and only then it runs.
import { omitUndefined } from '../../lib/index.ts';
import type { RunState } from '../../step-by-step/index.ts';
import type { Session, SessionRuntime } from '../../sessions/index.ts';
import type { Caller } from './authorization.ts';
import { toAnsweredWait } from './authorization.ts';
import { MethodNotAllowedError } from './errors/method-not-allowed-error.ts';
import { NotFoundError } from './errors/not-found-error.ts';
import { getSession } from './find-session.ts';
import { findWait } from './find-wait.ts';
import { guardRequests } from './guard-requests.ts';
import type { HandlerServices, SessionHandlerOptions } from './handler-options.ts';
import { createServices } from './handler-options.ts';
import { toErrorResponse, toWholeResponse } from './json-response.ts';
import type { ChannelSigner } from './routes/channel-route.ts';
import { channelPath, readChannelQuestion } from './routes/channel-route.ts';
import { matchRoute } from './routes/match-route.ts';
import { eventRoutes } from './routes/event-routes.ts';
import type { Route, RouteCall, ServerRoute, SessionRoute, WaitRoute } from './routes/route.ts';
import { sessionRoutes } from './routes/session-routes.ts';
import { waitRoutes } from './routes/wait-routes.ts';

const routes: readonly Route[] = [...sessionRoutes, ...waitRoutes, ...eventRoutes];

type Found = Pick<RouteCall, 'services' | 'request' | 'url' | 'params'>;

const loadSession = ({ services, params }: Found): Promise<Session> => getSession(services, params['session'] ?? '');

/** Runs a route about the whole server. */
async function runServerRoute(route: ServerRoute, found: Found, caller: Caller): Promise<Response> {
  const { gate } = found.services;
  const { action } = route;
  if ('run' in route) {
    const { scope } = await gate.check(caller, { action });
    return route.run({ ...found, by: caller.by, scope });
  }
  const { input, run } = await route.plan({ ...found, by: caller.by, scope: {} });
  await gate.check(caller, { action, input });
  return run();
}

/** Runs a route about a session. */
async function runSessionRoute(route: SessionRoute, found: Found, caller: Caller): Promise<Response> {
  const { services } = found;
  const { gate, runtime } = services;
  const session = await loadSession(found);
  const { action } = route;
  const call = { ...found, by: caller.by, scope: {}, session };
  if ('run' in route) {
    await gate.check(caller, { action, session });
    return route.run(call);
  }
  await gate.assertVisible(caller, session);
  const { input, run } = await route.plan(call);
  // A body may take its time: what is decided about is what the session waits for by then.
  const current = await loadSession(found);
  const open = action === 'grant' ? current.waitingFor.find(({ type }) => type === 'grant') : undefined;
  const wait = open && (await findWait(runtime, current, open.id));
  await gate.check(caller, { action, session: current, input, ...(wait !== undefined && { wait }) });
  return run();
}

/** Runs a route about something that a session waits for. */
async function runWaitRoute(route: WaitRoute, found: Found, caller: Caller): Promise<Response> {
  const { services, params } = found;
  const { gate, runtime } = services;
  const { action } = route;
  const session = await loadSession(found);
  const waitId = params['wait'] ?? '';
  const wait = await findWait(runtime, session, waitId);
  const call = { ...found, by: caller.by, scope: {}, session, wait, waitId };
  if ('run' in route) {
    await gate.check(caller, wait === undefined ? { action: 'get', session } : { action, session, wait });
    return route.run(call);
  }
  await gate.assertVisible(caller, session);
  const { input, args, run } = await route.plan(call);
  // A plan for something that is not waited for repeats an earlier request, which has no effect.
  if (wait !== undefined)
    await gate.check(caller, { action, session, input, wait: toAnsweredWait(wait, omitUndefined({ args, scope: input.scope })) });
  return run();
}

/** Runs a route for a caller who may. */
async function runRoute(route: Route, found: Found): Promise<Response> {
  const { services, request, url, params } = found;
  const token = url.searchParams.get('token');
  if (route.on === 'session' && 'run' in route && route.takesToken === true && token !== null) {
    const by = await services.tokens.read(token, params['session'] ?? '');
    return route.run({ ...found, by, scope: {}, session: await loadSession(found) });
  }
  const caller = await services.gate.authenticate(request);
  switch (route.on) {
    case 'server':
      return runServerRoute(route, found, caller);
    case 'session':
      return runSessionRoute(route, found, caller);
    case 'wait':
      return runWaitRoute(route, found, caller);
  }
}

/** Lets a page listen to the channel that its body names. The session is in the body, which is a small one. */
async function authorizeChannel(found: Found, channels: ChannelSigner): Promise<Response> {
  const { services, request } = found;
  if (request.method !== 'POST') throw new MethodNotAllowedError(request.method, ['POST']);
  const caller = await services.gate.authenticate(request);
  const { sessionId, ...question } = await readChannelQuestion(request, channels);
  const session = await loadSession({ ...found, params: { session: sessionId } });
  await services.gate.check(caller, { action: 'events', session });
  return toWholeResponse(200, await channels.sign(question));
}

async function handle(services: HandlerServices, request: Request): Promise<Response> {
  const url = new URL(request.url);
  if (!url.pathname.startsWith(`${services.basePath}/`)) throw new NotFoundError('such address');
  const path = url.pathname.slice(services.basePath.length);
  if (path === channelPath && services.channels !== undefined)
    return authorizeChannel({ services, request, url, params: {} }, services.channels);
  const { route, params } = matchRoute(routes, { method: request.method, path });
  return runRoute(route, { services, request, url, params });
}

/** Creates a handler that serves the sessions of a runtime over HTTP. It never rejects. */
export function createSessionHandler<State extends RunState, Output>(
  runtime: SessionRuntime<State, Output>,
  options: SessionHandlerOptions,
): (request: Request) => Promise<Response> {
  const services = createServices(runtime, options);
  const { origins, redactor, report } = services;
  const guard = { origins, methods: ['GET', 'POST'], report, toErrorResponse: (error: unknown) => toErrorResponse(redactor, error) };
  return guardRequests(guard, (request) => handle(services, request));
}
