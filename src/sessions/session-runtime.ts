// The public face of the sessions: checks what is asked for, and passes it on.
import type { IdSource } from '../lib/index.ts';
import { InvalidArgumentError, systemIds } from '../lib/index.ts';
import type { Message, MessageContent } from '../messages/index.ts';
import type { Grant, InferOutput, InferState, Orchestrator } from '../step-by-step/index.ts';
import { parseGrant, parseValue } from '../step-by-step/index.ts';
import type { ActionOptions, ActionRequest, ForkPoint, RecordedAction } from './action.ts';
import { toIdentity } from './agents.ts';
import { createDigest } from './approval-digest.ts';
import { readActions, readEntriesFrom, readStateAfterStep } from './entries.ts';
import { followEvents } from './follow-events.ts';
import {
  parseActionOptions,
  parseFacts,
  parseForkPoint,
  parseMessage,
  parseMs,
  parseNewSession,
  parseQuery,
  parseRuntimeOptions,
  parseSeq,
  parseText,
  parseWait,
} from './parse-input.ts';
import type {
  AnsweredWait,
  ApprovedWait,
  EventsOptions,
  ListedSessions,
  NewSession,
  Recovery,
  RuntimeOptionsFor,
  SessionRuntime,
  SessionRuntimeOptions,
} from './runtime-options.ts';
import type { Session, SessionFacts, SessionResult } from './session.ts';
import { toSummary } from './session.ts';
import { SessionHost } from './session-host.ts';
import type { SessionQuery } from './session-store.ts';
import type { StoredEvent } from './stored-events.ts';

/** Runs the sessions of a store. Claims the store: whoever owned it before can write no more. */
export function createSessionRuntime<Given extends Orchestrator>(
  options: RuntimeOptionsFor<Given>,
): SessionRuntime<InferState<Given>, InferOutput<Given>>;
export function createSessionRuntime(options: SessionRuntimeOptions): SessionRuntime {
  return new Runtime(parseRuntimeOptions(options));
}

/** Returns the given id first, then new ones. */
function startWith(id: string, ids: IdSource): IdSource {
  let isFirst = true;
  return () => {
    const next = isFirst ? id : ids();
    isFirst = false;
    return next;
  };
}

class Runtime implements SessionRuntime {
  readonly ready: Promise<Recovery>;
  readonly #host: SessionHost;
  readonly #ids: IdSource;

  constructor(options: SessionRuntimeOptions) {
    this.#host = new SessionHost(options);
    this.ready = this.#host.ready;
    this.#ids = options.ids ?? systemIds;
  }

  async create(session: NewSession, options: ActionOptions): Promise<Session> {
    const action = parseActionOptions(options);
    const { by, requestId } = action;
    const { agent: agentId, id = await this.#createId('create', action), ...wishes } = parseNewSession(session);
    const { agents, clock } = this.#host;
    const agent = agents.newest(agentId);
    const at = clock.now();
    const facts: SessionFacts = { ...parseFacts({ ...wishes, id }), agent: toIdentity(agent), createdAt: at };
    const state = agent.states.empty({ clock, ids: startWith(id, this.#ids) });
    return this.#host.create({ facts, states: agent.states, state, action: { type: 'create', by, at } }, requestId);
  }

  send(sessionId: string, content: MessageContent | Message, options: ActionOptions): Promise<SessionResult> {
    return this.#act(sessionId, options, () => ({ type: 'send', message: parseMessage(content, this.#ids).toJSON() }));
  }

  resume(sessionId: string, options: ActionOptions): Promise<SessionResult> {
    return this.#act(sessionId, options, () => ({ type: 'resume' }));
  }

  cancel(sessionId: string, reason: string, options: ActionOptions): Promise<SessionResult> {
    return this.#act(sessionId, options, () => ({ type: 'cancel', reason: parseText(reason, 'The reason of cancel(sessionId, reason)') }));
  }

  approve(sessionId: string, wait: ApprovedWait, options: ActionOptions & { readonly args?: unknown }): Promise<SessionResult> {
    return this.#act(sessionId, options, () => {
      const { waitId, digest } = parseWait(sessionId, wait);
      if (digest === undefined)
        throw new InvalidArgumentError('approve(sessionId, wait, …) needs the digest of what was shown; hand back the wait itself.');
      const edited = options.args === undefined ? {} : { args: parseValue(options.args, 'The edited arguments') };
      return { type: 'approve', waitId, digest, ...edited };
    });
  }

  reject(sessionId: string, wait: AnsweredWait, options: ActionOptions & { readonly reason?: string }): Promise<SessionResult> {
    return this.#act(sessionId, options, () => {
      const reason = parseText(options.reason ?? 'no reason was given', 'The reason of a rejection');
      return { type: 'reject', ...parseWait(sessionId, wait), reason };
    });
  }

  answer(sessionId: string, wait: AnsweredWait, options: ActionOptions & { readonly value: unknown }): Promise<SessionResult> {
    return this.#act(sessionId, options, () => {
      return { type: 'answer', ...parseWait(sessionId, wait), value: parseValue(options.value, 'The answer') };
    });
  }

  grant(sessionId: string, amounts: Grant, options: ActionOptions): Promise<SessionResult> {
    return this.#act(sessionId, options, () => ({ type: 'grant', amounts: parseGrant(amounts) }));
  }

  async fork(sessionId: string, at: Omit<ForkPoint, 'sessionId'>, options: ActionOptions & Omit<NewSession, 'agent'>): Promise<Session> {
    const action = parseActionOptions(options);
    const { by, requestId } = action;
    const from: ForkPoint = { sessionId: parseText(sessionId, 'A session id'), ...parseForkPoint(at) };
    const { id = await this.#createId(`fork ${sessionId}`, action) } = options;
    const { clock, store } = this.#host;
    await this.ready;
    return this.#host.use(sessionId, async ({ log: { facts: source, states } }) => {
      const { tenant = source.tenant, owner = source.owner, tags = source.tags } = options;
      const createdAt = clock.now();
      const facts: SessionFacts = { ...parseFacts({ id, tenant, owner, tags }), agent: source.agent, createdAt, forkedFrom: from };
      const past = await readStateAfterStep(store, states, from);
      const state = past.fork({ id, executionId: `${id}/${from.execution}`, clock, ids: this.#ids });
      return this.#host.create({ facts, states, state, action: { type: 'fork', from, by, at: createdAt } }, requestId);
    });
  }

  async get(sessionId: string): Promise<Session> {
    parseText(sessionId, 'A session id');
    await this.ready;
    return this.#host.use(sessionId, (session) => session.view());
  }

  async list(query: SessionQuery = {}): Promise<ListedSessions> {
    await this.ready;
    const { sessions, cursor } = await this.#host.store.list(parseQuery(query));
    return { sessions: sessions.map(toSummary), ...(cursor !== undefined && { cursor }) };
  }

  async actions(sessionId: string): Promise<readonly RecordedAction[]> {
    await this.get(sessionId);
    return readActions(await readEntriesFrom(this.#host.store, sessionId, 1));
  }

  events(sessionId: string, fromSeq = 0, options: EventsOptions = {}): AsyncIterable<StoredEvent> {
    parseText(sessionId, 'A session id');
    return followEvents(this.#host, { ...options, sessionId, fromSeq: parseSeq(fromSeq) });
  }

  async drain({ timeoutMs = 30_000 }: { readonly timeoutMs?: number } = {}): Promise<void> {
    return this.#host.drain(parseMs(timeoutMs, 'timeoutMs of drain()'));
  }

  /** Returns the id of a new session: the same for the same request, so that repeating it creates no second one. */
  async #createId(what: string, { by, requestId }: ActionOptions): Promise<string> {
    return requestId === undefined ? this.#ids() : (await createDigest({ what, by: by.id, kind: by.kind, requestId })).slice(0, 32);
  }

  /** Acts on a session. The options are checked before the request is read from them. */
  async #act(sessionId: string, options: ActionOptions, toRequest: () => ActionRequest): Promise<SessionResult> {
    const action = parseActionOptions(options);
    parseText(sessionId, 'A session id');
    const request = toRequest();
    await this.#host.assertOpen();
    return this.#host.use(sessionId, (session) => session.act(request, action));
  }
}
