// The handler of HTTP requests to sessions.
// Owns:     the order in which a request is checked, and the response to whatever fails.
// Does not: know what a route does, or how a server reads requests.
// H3. The session is loaded first, then its author is checked, and only then a body is read. Only the channel that a page wants to listen to
//     is read first: it says which session it is about.
import type { RunState } from '../../step-by-step/index.ts';
import type { Session, SessionRuntime } from '../../sessions/index.ts';
import type { HttpAction } from './authorization.ts';
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
import type { Route, RouteCall } from './routes/route.ts';
import { sessionRoutes } from './routes/session-routes.ts';
import { waitRoutes } from './routes/wait-routes.ts';

const routes: readonly Route[] = [...sessionRoutes, ...waitRoutes, ...eventRoutes];

type Found = Pick<RouteCall, 'services' | 'request' | 'url' | 'params'>;

const loadSession = ({ services, request, params }: Found, action: HttpAction): Promise<Session> =>
  getSession(services, { request, action, id: params['session'] ?? '' });

/** Runs a route for an author who may. */
async function runRoute(route: Route, found: Found): Promise<Response> {
  const { services, request, url, params } = found;
  const { gate, tokens, runtime } = services;
  const { action } = route;
  if (route.on === 'server') {
    const { by, scope = {} } = await gate.check({ request, action });
    return route.run({ ...found, by, scope });
  }
  const token = url.searchParams.get('token');
  if (route.on === 'session' && route.takesToken === true && token !== null) {
    const by = await tokens.read(token, params['session'] ?? '');
    return route.run({ ...found, by, scope: {}, session: await loadSession(found, action) });
  }
  const session = await loadSession(found, action);
  if (route.on === 'wait') {
    const waitId = params['wait'] ?? '';
    const wait = await findWait(runtime, session, waitId);
    const { by } = await gate.check(wait === undefined ? { request, action: 'get', session } : { request, action, session, wait });
    return route.run({ ...found, by, scope: {}, session, wait, waitId });
  }
  const open = action === 'grant' ? session.waitingFor.find(({ type }) => type === 'grant') : undefined;
  const wait = open && (await findWait(runtime, session, open.id));
  const { by } = await gate.check({ request, action, session, ...(wait !== undefined && { wait }) });
  return route.run({ ...found, by, scope: {}, session });
}

/** Lets a page listen to the channel that its body names. The session is in the body, so that a small one is read first. */
async function authorizeChannel(found: Found, channels: ChannelSigner): Promise<Response> {
  const { services, request } = found;
  if (request.method !== 'POST') throw new MethodNotAllowedError(request.method, ['POST']);
  const { sessionId, ...question } = await readChannelQuestion(request, channels);
  const session = await loadSession({ ...found, params: { session: sessionId } }, 'events');
  await services.gate.check({ request, action: 'events', session });
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
