// Routes that create, find and use sessions.
import type { JsonObject } from '../../../lib/index.ts';
import { describeValue, InvalidArgumentError, omitUndefined, present } from '../../../lib/index.ts';
import type { ContentPart } from '../../../messages/index.ts';
import { readContentPart } from '../../../messages/index.ts';
import type { NewSession, SendOptions, SessionResult, SessionSummary, StoredWorker } from '../../../sessions/index.ts';
import { readBody } from '../read-body.ts';
import { toFactsView, toSessionView, toSummaryView, toWorkerView } from '../session-view.ts';
import { readQuery } from './read-query.ts';
import type { ActionPlan, Body, Route, RouteCall, SessionCall } from './route.ts';
import { actionFields, getView, readActionOptions, readFields, readText, send, toPlan } from './route.ts';

/** Asks the host for the tenant and the owner of a session that a request makes. */
async function askNewSession(call: RouteCall & Partial<SessionCall>, body: Body, action: 'create' | 'fork'): Promise<NewSession> {
  const { services, request, by, session: source } = call;
  return services.newSession({ request, action, by, body, ...(source !== undefined && { source }) });
}

async function create(call: RouteCall): Promise<ActionPlan> {
  const body = await readBody(call.request, call.services.maxBodyBytes);
  const { until: _, ...options } = readActionOptions(call, body);
  const newSession = await askNewSession(call, body, 'create');
  const run = async (): Promise<Response> => {
    const created = await call.services.runtime.create(newSession, { ...options, until: 'accepted' });
    return send(call, 201, toSessionView(created, getView(call)));
  };
  return { input: { newSession }, run };
}

const readNumber = (body: Body, key: string): number => {
  const value = body[key];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError(`${key} must be a whole number of 0 or more, not ${describeValue(value)}.`);
};

async function fork(call: SessionCall): Promise<ActionPlan> {
  const { session, services } = call;
  const body = await readBody(call.request, services.maxBodyBytes);
  const at = { execution: readNumber(body, 'execution'), step: readNumber(body, 'step') };
  const { until: _, ...options } = readActionOptions(call, body);
  const { agent: _agent, ...newSession } = await askNewSession(call, body, 'fork');
  const run = async (): Promise<Response> => {
    const forked = await services.runtime.fork(session.id, at, { ...newSession, ...options, until: 'accepted' });
    return send(call, 201, toSessionView(forked, getView(call)));
  };
  return { input: { newSession, at }, run };
}

async function list(call: RouteCall): Promise<Response> {
  const { services } = call;
  const { sessions, cursor } = await services.runtime.list(
    readQuery(call, ['status', 'stop_reason', 'agent', 'tenant', 'owner', 'tag', 'limit', 'cursor']),
  );
  const visible: SessionSummary[] = [];
  // A damaged session has no tenant, so nobody may see it here.
  for (const session of sessions) if (!('damage' in session) && (await services.gate.isVisible(call, session))) visible.push(session);
  return send(call, 200, { sessions: visible.map(toSummaryView), ...(cursor !== undefined && { cursor }) });
}

type SendWays = { readonly [Key in 'whileRunning' | 'whileWaiting']: SendOptions[Key] };

/** Reads the content of a message: a text, or parts of text, images and files. */
function readContent(body: Body): string | readonly ContentPart[] {
  const { content } = body;
  const text = readText(body, 'text');
  if ((text === undefined) === (content === undefined))
    throw new InvalidArgumentError('A message needs either text or content. Send { "text": "Hello" }, for example.');
  if (text !== undefined) return text;
  if (!Array.isArray(content) || content.length === 0)
    throw new InvalidArgumentError(`content must be a list of parts, not ${describeValue(content)}.`);
  try {
    return content.map((part, index) => readContentPart(part, `content[${index}]`));
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : 'content has a part that cannot be read.');
  }
}

async function sendMessage(call: SessionCall): Promise<ActionPlan> {
  const body = await readFields(call, ['text', 'content', 'while_running', 'while_waiting', ...actionFields]);
  const options = readActionOptions(call, body);
  // Holds: the runtime checks them.
  const ways = { whileRunning: readText(body, 'while_running'), whileWaiting: readText(body, 'while_waiting') } as SendWays;
  const [content, rules] = [readContent(body), omitUndefined(ways)];
  const act = (): Promise<SessionResult> => call.services.runtime.send(call.session.id, content, { ...options, ...rules });
  return toPlan(call, options, { input: { content, ...rules }, act });
}

async function cancel(call: SessionCall): Promise<ActionPlan> {
  const body = await readFields(call, ['reason', ...actionFields]);
  const options = readActionOptions(call, body);
  const reason = readText(body, 'reason') ?? 'no reason was given';
  return toPlan(call, options, { input: { reason }, act: () => call.services.runtime.cancel(call.session.id, reason, options) });
}

async function resume(call: SessionCall): Promise<ActionPlan> {
  const options = readActionOptions(call, await readFields(call, actionFields));
  return toPlan(call, options, { input: {}, act: () => call.services.runtime.resume(call.session.id, options) });
}

/** Shows a worker without its name, process and machine. */
const toHealthView = ({ agents, sessions, room, silentMs, isConnected }: StoredWorker): JsonObject =>
  present({ agents, sessions, room, silent_ms: silentMs, is_connected: isConnected });

async function checkHealth(call: RouteCall): Promise<Response> {
  const { role, isDraining, isStoreReachable, workers } = await call.services.runtime.health();
  const isHealthy = isStoreReachable && !isDraining;
  const shown = { role, is_draining: isDraining, is_store_reachable: isStoreReachable, workers: workers.map(toHealthView) };
  // Sessions, hosts and reasons of holds are not shown: they belong to different tenants.
  return send(call, isHealthy ? 200 : 503, { is_healthy: isHealthy, ...shown });
}

export const sessionRoutes: readonly Route[] = [
  { method: 'POST', path: '/sessions', action: 'create', on: 'server', plan: create },
  { method: 'GET', path: '/sessions', action: 'list', on: 'server', run: list },
  {
    method: 'GET',
    path: '/sessions/:session',
    action: 'get',
    on: 'session',
    run: (call) => send(call, 200, toSessionView(call.session, getView(call))),
  },
  {
    method: 'GET',
    path: '/sessions/:session/facts',
    action: 'facts',
    on: 'session',
    run: (call) => send(call, 200, { ...toFactsView(call.session), ...toWorkerView(call.session) }),
  },
  { method: 'POST', path: '/sessions/:session/messages', action: 'send', on: 'session', plan: sendMessage },
  { method: 'POST', path: '/sessions/:session/cancel', action: 'cancel', on: 'session', plan: cancel },
  { method: 'POST', path: '/sessions/:session/resume', action: 'resume', on: 'session', plan: resume },
  { method: 'POST', path: '/sessions/:session/fork', action: 'fork', on: 'session', plan: fork },
  { method: 'GET', path: '/health', action: 'health', on: 'server', run: checkHealth },
];
