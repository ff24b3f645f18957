// The face of the sessions: what can be asked for, checked, and handed on.
import type { IdSource } from '../lib/index.ts';
import { InvalidArgumentError, systemIds } from '../lib/index.ts';
import type { MessageContent } from '../messages/index.ts';
import { isMessageContent, Message } from '../messages/index.ts';
import type { Grant, InferOutput, InferState, Orchestrator } from '../step-by-step/index.ts';
import { parseGrant, parseValue } from '../step-by-step/index.ts';
import type { ActionOptions, ActionRequest, ForkPoint, RecordedAction } from './action.ts';
import { checkedOptions } from './action.ts';
import { toIdentity } from './agents.ts';
import { createDigest } from './approval-digest.ts';
import {
  parseFacts,
  parseMs,
  parseNewSession,
  parseForkPoint,
  parseQuery,
  parseRuntimeOptions,
  parseSeq,
  parseText,
  parseWait,
} from './checks.ts';
import { readEntriesFrom, readActions } from './entry-body.ts';
import { followEvents } from './follow-events.ts';
import { readStateAfterStep } from './forked-state.ts';
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
import { SessionKeeper } from './session-keeper.ts';
import type { SessionQuery } from './session-store.ts';
import type { StoredEvent } from './stored-events.ts';

/** Carries the sessions of a store on. Takes the store over: whoever had it before can write no more. */
export function createSessionRuntime<Given extends Orchestrator>(
  options: RuntimeOptionsFor<Given>,
): SessionRuntime<InferState<Given>, InferOutput<Given>>;
export function createSessionRuntime(options: SessionRuntimeOptions): SessionRuntime {
  return new Runtime(parseRuntimeOptions(options));
}

/** The first id is given, the others are made. */
function startingWith(id: string, ids: IdSource): IdSource {
  let isFirst = true;
  return () => {
    const next = isFirst ? id : ids();
    isFirst = false;
    return next;
  };
}

class Runtime implements SessionRuntime {
  readonly #keeper: SessionKeeper;
  readonly #ids: IdSource;

  constructor(options: SessionRuntimeOptions) {
    this.#keeper = new SessionKeeper(options);
    this.#ids = options.ids ?? systemIds;
  }

  get ready(): Promise<Recovery> {
    return this.#keeper.ready;
  }

  async create(session: NewSession, options: ActionOptions): Promise<Session> {
    const action = checkedOptions(options);
    const { agent: agentId, tenant, owner, tags = [], id = await this.#idFor('create', action) } = parseNewSession(session);
    const { agents, clock } = this.#keeper;
    const agent = agents.newest(agentId);
    const { states } = agent;
    const now = clock.now();
    const facts: SessionFacts = { ...parseFacts({ id, tenant, owner, tags }), agent: toIdentity(agent), createdAt: now };
    const state = states.empty({ clock, ids: startingWith(id, this.#ids) });
    return this.#keeper.make({ facts, states, state, action: { type: 'create', by: action.by, at: now } }, action.requestId);
  }

  async send(sessionId: string, content: MessageContent | Message, options: ActionOptions): Promise<SessionResult> {
    if (!isMessageContent(content)) throw new InvalidArgumentError('send(sessionId, content, { by }) takes text, a message or parts.');
    const message = content instanceof Message ? content : Message.user(content, { ids: this.#ids });
    if (message.isEmpty) throw new InvalidArgumentError('send(sessionId, content, { by }) needs something to say; the message is empty.');
    return this.#perform(sessionId, options, { type: 'send', message: message.toJSON() });
  }

  async resume(sessionId: string, options: ActionOptions): Promise<SessionResult> {
    return this.#perform(sessionId, options, { type: 'resume' });
  }

  async cancel(sessionId: string, reason: string, options: ActionOptions): Promise<SessionResult> {
    return this.#perform(sessionId, options, { type: 'cancel', reason: parseText(reason, 'The reason of cancel(sessionId, reason)') });
  }

  async approve(sessionId: string, wait: ApprovedWait, options: ActionOptions & { readonly args?: unknown }): Promise<SessionResult> {
    const { waitId, digest } = parseWait(sessionId, wait);
    if (digest === undefined)
      throw new InvalidArgumentError('approve(sessionId, wait, …) needs the digest of what was shown; hand back the wait itself.');
    checkedOptions(options);
    const edited = options.args === undefined ? {} : { args: parseValue(options.args, 'The edited arguments') };
    return this.#perform(sessionId, options, { type: 'approve', waitId, digest, ...edited });
  }

  async reject(sessionId: string, wait: AnsweredWait, options: ActionOptions & { readonly reason?: string }): Promise<SessionResult> {
    checkedOptions(options);
    const reason = parseText(options.reason ?? 'no reason was given', 'The reason of a rejection');
    return this.#perform(sessionId, options, { type: 'reject', ...parseWait(sessionId, wait), reason });
  }

  async answer(sessionId: string, wait: AnsweredWait, options: ActionOptions & { readonly value: unknown }): Promise<SessionResult> {
    checkedOptions(options);
    const value = parseValue(options.value, 'The answer');
    return this.#perform(sessionId, options, { type: 'answer', ...parseWait(sessionId, wait), value });
  }

  async grant(sessionId: string, amounts: Grant, options: ActionOptions): Promise<SessionResult> {
    return this.#perform(sessionId, options, { type: 'grant', amounts: parseGrant(amounts) });
  }

  async fork(sessionId: string, at: Omit<ForkPoint, 'sessionId'>, options: ActionOptions & Omit<NewSession, 'agent'>): Promise<Session> {
    const action = checkedOptions(options);
    const from: ForkPoint = { sessionId: parseText(sessionId, 'A session id'), ...parseForkPoint(at) };
    const { id = await this.#idFor(`fork ${sessionId}`, action) } = options;
    const { clock, store } = this.#keeper;
    return this.#keeper.use(sessionId, async ({ log: { facts: source, states } }) => {
      const { tenant = source.tenant, owner = source.owner, tags = source.tags } = options;
      const now = clock.now();
      const checked = parseFacts({ id, tenant, owner, tags });
      const facts: SessionFacts = { ...checked, agent: source.agent, createdAt: now, forkedFrom: from };
      const then = await readStateAfterStep(store, states, from);
      const state = then.fork({ id, executionId: `${id}/${from.execution}`, clock, ids: this.#ids });
      return this.#keeper.make({ facts, states, state, action: { type: 'fork', from, by: action.by, at: now } }, action.requestId);
    });
  }

  async get(sessionId: string): Promise<Session> {
    parseText(sessionId, 'A session id');
    return this.#keeper.use(sessionId, (session) => session.view());
  }

  async list(query: SessionQuery = {}): Promise<ListedSessions> {
    await this.ready;
    const { sessions, cursor } = await this.#keeper.store.list(parseQuery(query));
    return { sessions: sessions.map(toSummary), ...(cursor !== undefined && { cursor }) };
  }

  async actions(sessionId: string): Promise<readonly RecordedAction[]> {
    await this.get(sessionId);
    return readActions(await readEntriesFrom(this.#keeper.store, sessionId, 1));
  }

  events(sessionId: string, fromSeq = 0, options: EventsOptions = {}): AsyncIterable<StoredEvent> {
    const keeper = this.#keeper;
    parseText(sessionId, 'A session id');
    const state = () => keeper.use(sessionId, ({ log }) => log.state);
    return followEvents(parseSeq(fromSeq), {
      ...options,
      sessionId,
      read: (afterSeq) => keeper.store.entries(sessionId, { afterSeq, limit: 200 }),
      stateOf: state,
      open: async () => {
        await state();
      },
      onMore: (call) => keeper.follow(sessionId, call),
      isOver: () => keeper.isClosed,
    });
  }

  async drain({ timeoutMs = 30_000 }: { readonly timeoutMs?: number } = {}): Promise<void> {
    return this.#keeper.drain(parseMs(timeoutMs, 'timeoutMs of drain()'));
  }

  /** The id of a new session: the same for the same request, so that repeating it makes no second one. */
  async #idFor(what: string, { by, requestId }: ActionOptions): Promise<string> {
    return requestId === undefined ? this.#ids() : (await createDigest({ what, by: by.id, kind: by.kind, requestId })).slice(0, 32);
  }

  async #perform(sessionId: string, options: ActionOptions, request: ActionRequest): Promise<SessionResult> {
    const action = checkedOptions(options);
    parseText(sessionId, 'A session id');
    await this.#keeper.open();
    return this.#keeper.use(sessionId, (session) => session.perform(request, action));
  }
}
