// The public interface of sessions: checks arguments and passes them on.
import type { IdSource } from '../lib/index.ts';
import { InvalidArgumentError, systemIds } from '../lib/index.ts';
import type { InferOutput, InferState, Orchestrator } from '../step-by-step/index.ts';
import { parseGrant, parseValue } from '../step-by-step/index.ts';
import type { ActionOptions, ActionRequest, ForkPoint } from './action.ts';
import { toIdentity } from './agents.ts';
import { createDigest } from './approval-digest.ts';
import { readActions, readEntriesFrom, readStateAfterStep, readStored } from './entries.ts';
import { toExecutionId } from './execution-id.ts';
import { followEvents } from './follow-events.ts';
import {
  parseActionOptions,
  parseEventsOptions,
  parseFacts,
  parseForkPoint,
  parseMessage,
  parseMs,
  parseNewSession,
  parseQuery,
  parseRuntimeOptions,
  parseText,
  parseWait,
} from './parse-input.ts';
import type { RuntimeOptionsFor, SessionRuntime, SessionRuntimeOptions } from './runtime-options.ts';
import type { SessionFacts, SessionResult } from './session.ts';
import { toSummary } from './session.ts';
import { SessionHost } from './session-host.ts';

/** Runs the sessions of a store. Claims the store: its previous owner can no longer write. */
export function createSessionRuntime<Given extends Orchestrator>(
  options: RuntimeOptionsFor<Given>,
): SessionRuntime<InferState<Given>, InferOutput<Given>>;
export function createSessionRuntime(options: SessionRuntimeOptions): SessionRuntime {
  const { ids = systemIds } = parseRuntimeOptions(options);
  const host = new SessionHost(options);
  return {
    ready: host.ready,
    ...createMakers(host, ids),
    ...createActions(host, ids),
    ...createReaders(host),
    drain: async ({ timeoutMs = 30_000 } = {}) => host.drain(parseMs(timeoutMs, 'timeoutMs of drain()')),
  };
}

/** Methods that create sessions. */
function createMakers(host: SessionHost, ids: IdSource): Pick<SessionRuntime, 'create' | 'fork'> {
  const { agents, clock, store } = host;
  return {
    create: async (session, options) => {
      const action = parseActionOptions(options);
      const { by, requestId } = action;
      const { agent: agentId, id = await createId('create', action, ids), ...wishes } = parseNewSession(session);
      const agent = agents.newest(agentId);
      const at = clock.now();
      const facts: SessionFacts = { ...parseFacts({ ...wishes, id }), agent: toIdentity(agent), createdAt: at };
      const state = agent.states.empty({ clock, ids: startWith(facts.id, ids) });
      return host.create({ facts, states: agent.states, state, action: { type: 'create', by, at } }, requestId);
    },
    fork: async (sessionId, forkAt, options) => {
      const action = parseActionOptions(options);
      const { by, requestId } = action;
      const from: ForkPoint = { sessionId: parseText(sessionId, 'A session id'), ...parseForkPoint(forkAt) };
      const { id: given = await createId(`fork ${from.sessionId}`, action, ids) } = options;
      const id = parseText(given, 'The id of a session');
      await host.whenClaimed();
      return host.sessions.use(from.sessionId, async ({ log: { facts: source, states } }) => {
        const { tenant = source.tenant, owner = source.owner, tags = source.tags } = options;
        const at = clock.now();
        const facts: SessionFacts = { ...parseFacts({ id, tenant, owner, tags }), agent: source.agent, createdAt: at, forkedFrom: from };
        const past = await readStateAfterStep(store, states, from);
        const state = past.fork({ id, executionId: toExecutionId(id, from.execution), clock, ids });
        return host.create({ facts, states, state, action: { type: 'fork', from, by, at } }, requestId);
      });
    },
  };
}

/** Creates the id of a new session: the same for the same request, so that repeating it creates no second one. */
async function createId(what: string, { by, requestId }: ActionOptions, ids: IdSource): Promise<string> {
  return requestId === undefined ? ids() : (await createDigest({ what, by: by.id, kind: by.kind, requestId })).slice(0, 32);
}

/** Returns the given id first, then new ones. */
function startWith(id: string, ids: IdSource): IdSource {
  const given = [id];
  return () => given.pop() ?? ids();
}

type ActionMethod = 'send' | 'resume' | 'cancel' | 'approve' | 'reject' | 'answer' | 'grant';

/** Methods that act on a session. */
function createActions(host: SessionHost, ids: IdSource): Pick<SessionRuntime, ActionMethod> {
  // The options are checked before the request is read from them.
  const act = async (given: string, options: ActionOptions, toRequest: (sessionId: string) => ActionRequest): Promise<SessionResult> => {
    const action = parseActionOptions(options);
    const sessionId = parseText(given, 'A session id');
    const request = toRequest(sessionId);
    await host.assertOpen();
    return host.sessions.use(sessionId, (session) => session.act(request, action));
  };
  return {
    send: (id, content, options) => act(id, options, () => ({ type: 'send', message: parseMessage(content, ids).toJSON() })),
    resume: (id, options) => act(id, options, () => ({ type: 'resume' })),
    cancel: (id, reason, options) =>
      act(id, options, () => ({ type: 'cancel', reason: parseText(reason, 'The reason of cancel(sessionId, reason)') })),
    approve: (id, wait, options) =>
      act(id, options, (sessionId) => {
        const { waitId, digest } = parseWait(sessionId, wait);
        if (digest === undefined)
          throw new InvalidArgumentError('approve(sessionId, wait, …) needs the digest of what was shown; hand back the wait itself.');
        const edited = options.args === undefined ? {} : { args: parseValue(options.args, 'The edited arguments') };
        return { type: 'approve', waitId, digest, ...edited };
      }),
    reject: (id, wait, options) =>
      act(id, options, (sessionId) => {
        const reason = parseText(options.reason ?? 'no reason was given', 'The reason of a rejection');
        return { type: 'reject', ...parseWait(sessionId, wait), reason };
      }),
    answer: (id, wait, options) =>
      act(id, options, (sessionId) => ({ type: 'answer', ...parseWait(sessionId, wait), value: parseValue(options.value, 'The answer') })),
    grant: (id, amounts, options) => act(id, options, () => ({ type: 'grant', amounts: parseGrant(amounts) })),
  };
}

/** Methods that read sessions. */
function createReaders(host: SessionHost): Pick<SessionRuntime, 'get' | 'list' | 'actions' | 'events'> {
  const { store } = host;
  const get: SessionRuntime['get'] = async (given) => {
    return host.view(parseText(given, 'A session id'));
  };
  return {
    get,
    list: async (query = {}) => {
      await host.holdsStore();
      const { sessions, cursor } = await store.list(parseQuery(query));
      return { sessions: sessions.map(toSummary), ...(cursor !== undefined && { cursor }) };
    },
    actions: async (sessionId) => {
      const { id } = await get(sessionId);
      const entries = await readEntriesFrom(store, id, 1);
      return readStored(id, () => readActions(entries));
    },
    events: (sessionId, options = {}) =>
      followEvents(host, { ...parseEventsOptions(options), sessionId: parseText(sessionId, 'A session id') }),
  };
}
