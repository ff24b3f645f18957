// The public interface of sessions: checks arguments and passes them on.
import type { IdSource } from '../../lib/index.ts';
import { checkKeys, describeValue, InvalidArgumentError, systemIds } from '../../lib/index.ts';
import type { InferOutput, InferState, Orchestrator } from '../../step-by-step/index.ts';
import { parseGrant, parseValue } from '../../step-by-step/index.ts';
import type { ActionOptions, ActionRequest, ForkPoint } from '../core/action.ts';
import { createDigest } from '../core/approval-digest.ts';
import {
  parseActionOptions,
  parseFacts,
  parseForkPoint,
  parseMessage,
  parseMs,
  parseNewSession,
  parseScope,
  parseSendRules,
  parseText,
  parseWait,
} from '../core/parse-input.ts';
import type { SessionResult } from '../core/session.ts';
import type { SessionRuntime } from '../core/session-runtime.ts';
import { createDeliveries } from '../delivery/create-deliveries.ts';
import { createBulkActions } from './bulk-actions.ts';
import { createHolds } from './create-holds.ts';
import { createReaders } from './create-readers.ts';
import { readHealth } from './health.ts';
import { MailClient } from './mail-client.ts';
import { parseRuntimeOptions } from './parse-runtime-options.ts';
import type { EmbeddedRuntime, RuntimeOptionsFor, SessionRuntimeOptions } from './runtime-options.ts';
import { SessionActions } from './session-actions.ts';
import { SessionHost } from './session-host.ts';
import { exposeClosing } from './shared-runtime.ts';

/** Runs sessions of a store, beside any number of other workers; or, as a client, asks those that do. */
export function createSessionRuntime<Given extends Orchestrator>(
  options: RuntimeOptionsFor<Given>,
): EmbeddedRuntime<InferState<Given>, InferOutput<Given>>;
export function createSessionRuntime(options: SessionRuntimeOptions): EmbeddedRuntime {
  const host = new SessionHost(parseRuntimeOptions(options));
  const { store, clock, ids, watcher, closing } = host;
  const client = new MailClient(host);
  const actions = createActions(new SessionActions(host, client), ids);
  const readers = createReaders(host, client);
  const { stopAll, ...deliveries } = createDeliveries(
    {
      notes: store.notes,
      reader: host.feedReader,
      clock,
      heartbeatClock: host.heartbeatClock,
      follow: (call) => watcher.follow(undefined, call),
      report: (error, where) => host.report(error, where),
    },
    systemIds,
  );
  const runtime: EmbeddedRuntime = {
    ready: host.ready,
    ...deliveries,
    ...actions,
    ...readers,
    ...createBulkActions({ ...actions, ...readers, host }),
    ...createHolds(host),
    health: () => readHealth(host),
    runOnce: async (given, once) => {
      checkKeys('runOnce()', once, ['untilMs']);
      const sessionId = parseText(given, 'A session id');
      const found = await host.runOnce(sessionId, parseMs(once.untilMs, 'untilMs of runOnce()'));
      return found.type === 'owned' ? found : { ...found, session: await readers.get(sessionId) };
    },
    drain: async (drain = {}) => {
      checkKeys('drain()', drain, ['timeoutMs']);
      const timeoutMs = parseMs(drain.timeoutMs ?? 30_000, 'timeoutMs of drain()');
      await Promise.all([host.drain(timeoutMs), stopAll()]);
    },
  };
  return exposeClosing(runtime, closing);
}

/** Creates the id of a new session: the same for the same request, so that repeating it creates no second one. */
async function createId(what: string, { by, requestId }: ActionOptions, ids: IdSource): Promise<string> {
  return requestId === undefined ? ids() : (await createDigest({ what, by: by.id, kind: by.kind, requestId })).slice(0, 32);
}

type ActionMethod =
  | 'create'
  | 'fork'
  | 'send'
  | 'resume'
  | 'cancel'
  | 'approve'
  | 'reject'
  | 'answer'
  | 'grant'
  | 'delete'
  | 'eraseMessage'
  | 'revokeApproval';

/** Methods that change a session. */
function createActions(sessions: SessionActions, ids: IdSource): Pick<SessionRuntime, ActionMethod> {
  // The options are checked before the request is read from them.
  const act = async (
    { method, id, more }: { readonly method: string; readonly id: string; readonly more?: readonly string[] },
    options: ActionOptions,
    toRequest: (sessionId: string) => ActionRequest,
  ): Promise<SessionResult> => {
    const action = parseActionOptions(options, method, more);
    const sessionId = parseText(id, 'A session id');
    const request = toRequest(sessionId);
    return sessions.act(sessionId, request, action);
  };
  return {
    create: async (session, options) => {
      const action = parseActionOptions(options, 'create');
      const { agent, id: given = await createId('create', action, ids), ...wishes } = parseNewSession(session);
      const facts = parseFacts({ ...wishes, id: given });
      return sessions.create({ ...facts, ...(agent !== undefined && { agent: parseText(agent, 'An agent') }) }, action);
    },
    fork: async (sessionId, forkAt, options) => {
      const action = parseActionOptions(options, 'fork', ['id', 'tenant', 'owner', 'tags']);
      const from: ForkPoint = { sessionId: parseText(sessionId, 'A session id'), ...parseForkPoint(forkAt) };
      const { id = await createId(`fork ${from.sessionId}`, action, ids), tenant, owner, tags } = options;
      const facts = parseFacts({ id, tenant, owner, tags });
      // Wishes that are absent are taken from the source.
      const { tags: parsed, ...rest } = facts;
      return sessions.fork(from, { ...rest, ...(tags !== undefined && { tags: parsed }) }, action);
    },
    send: (id, content, options) =>
      act({ method: 'send', id, more: ['whileRunning', 'whileWaiting'] }, options, () => ({
        type: 'send',
        message: parseMessage(content, ids).toJSON(),
        ...parseSendRules(options),
      })),
    resume: (id, options) => act({ method: 'resume', id }, options, () => ({ type: 'resume' })),
    cancel: (id, reason, options) =>
      act({ method: 'cancel', id }, options, () => ({ type: 'cancel', reason: parseText(reason, 'The reason of cancel()') })),
    approve: (id, wait, options) =>
      act({ method: 'approve', id, more: ['args', 'scope'] }, options, (sessionId) => {
        const { waitId, digest } = parseWait(sessionId, wait);
        if (digest === undefined)
          throw new InvalidArgumentError(`approve() needs the digest of "${waitId}". Pass the wait from session.waitingFor unchanged.`);
        const edited = options.args === undefined ? {} : { args: parseValue(options.args, 'The edited arguments') };
        return { type: 'approve', waitId, digest, ...edited, ...parseScope(options) };
      }),
    revokeApproval: (id, approvalId, options) =>
      act({ method: 'revokeApproval', id }, options, () => ({
        type: 'revoke',
        approvalId: parseText(approvalId, 'The id of an approval'),
      })),
    reject: (id, wait, options) =>
      act({ method: 'reject', id, more: ['reason'] }, options, (sessionId) => {
        const reason = parseText(options.reason ?? 'no reason was given', 'The reason of a rejection');
        return { type: 'reject', ...parseWait(sessionId, wait), reason };
      }),
    answer: (id, wait, options) =>
      act({ method: 'answer', id, more: ['value'] }, options, (sessionId) => ({
        type: 'answer',
        ...parseWait(sessionId, wait),
        value: parseValue(options.value, 'The answer'),
      })),
    grant: (id, amounts, options) => act({ method: 'grant', id }, options, () => ({ type: 'grant', amounts: parseGrant(amounts) })),
    eraseMessage: async (id, messageId, options) => {
      await act({ method: 'eraseMessage', id }, options, () => ({ type: 'erase', messageId: parseText(messageId, 'The id of a message') }));
    },
    delete: async (id, options) => {
      const action = parseActionOptions(options, 'delete', ['forks']);
      const sessionId = parseText(id, 'A session id');
      const { forks = false } = options;
      if (typeof forks !== 'boolean') throw new InvalidArgumentError(`delete(): forks must be true or false, not ${describeValue(forks)}.`);
      return sessions.delete(sessionId, { ...action, forks });
    },
  };
}
