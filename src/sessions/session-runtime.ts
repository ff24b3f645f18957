// Many sessions over one store.
// Owns:     who may write, which sessions are carried on at the start, when they are woken, and when the runtime ends.
// Does not: know what a session holds, or how a step is taken.
// R1. What was interrupted is found at the start and carried on; what is damaged is set aside, and harms nobody else.
// R2. Once another runtime has claimed the store, this one does nothing more.
import { reportSafely, reportToConsole } from '../events/index.ts';
import type { Clock, IdSource } from '../lib/index.ts';
import { InvalidArgumentError, SteplineError, systemClock, systemIds } from '../lib/index.ts';
import type { MessageContent } from '../messages/index.ts';
import { isMessageContent, Message } from '../messages/index.ts';
import { WrongKindError } from '../serialization/index.ts';
import type { Grant } from '../step-by-step/index.ts';
import { cancelled, checkedGrant, givenValue } from '../step-by-step/index.ts';
import type { ActOptions, Deed, ForkPoint } from './act.ts';
import { checkedOptions } from './act.ts';
import { Agents, OnVersionChange } from './agents.ts';
import { digestOf } from './approval-digest.ts';
import { checkedFacts, checkedMs, checkedNew, checkedPoint, checkedRuntime, checkedSeq, checkedText, checkedWait } from './checks.ts';
import { ContextFailedError } from './context-failed-error.ts';
import type { Expiry } from './expiry.ts';
import { createExpiry, lookAheadMs } from './expiry.ts';
import { followEvents } from './follow-events.ts';
import { stateAfterStep } from './forked-state.ts';
import type { SessionHost } from './live-session.ts';
import { LiveSession } from './live-session.ts';
import type {
  AnsweredWait,
  ApprovedWait,
  EventsOptions,
  ListedSessions,
  NewSession,
  Recovery,
  SessionRuntime,
  SessionRuntimeOptions,
} from './runtime-options.ts';
import { RuntimeClosedError } from './runtime-closed-error.ts';
import type { Session, SessionFacts, Turn } from './session.ts';
import { toSummary } from './session.ts';
import { identityOf } from './session-agent.ts';
import { SessionConflictError } from './session-conflict-error.ts';
import { SessionDamagedError } from './session-damaged-error.ts';
import type { LogHome } from './session-log.ts';
import { kindOf, SessionLog } from './session-log.ts';
import { SessionPool } from './session-pool.ts';
import type { ListedSession, SessionQuery } from './session-store.ts';
import type { StoredEvent } from './stored-events.ts';
import { UnknownSessionError } from './unknown-session-error.ts';

/** Carries the sessions of a store on. Takes the store over: whoever had it before can write no more. */
export function createSessionRuntime(options: SessionRuntimeOptions): SessionRuntime {
  return new Runtime(options);
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

/** How long to wait before a store that failed is tried again. */
const retryStoreMs = 10_000;

class Runtime implements SessionRuntime {
  readonly ready: Promise<Recovery>;
  readonly #options: SessionRuntimeOptions;
  readonly #agents: Agents;
  readonly #clock: Clock;
  readonly #ids: IdSource;
  readonly #pool: SessionPool;
  readonly #followers = new Map<string, Set<() => void>>();
  readonly #expiry: Expiry;
  readonly #host: SessionHost;
  /** Sessions that a failing store left undone. */
  readonly #later = new Set<string>();
  #cancelLater: (() => void) | undefined;
  readonly #closing: Promise<void>;
  #tellClosing: () => void = () => undefined;
  #home: LogHome | undefined;
  #closed: string | undefined;

  constructor(options: SessionRuntimeOptions) {
    const { agents, store, onVersionChange = OnVersionChange.Continue, clock = systemClock, ids = systemIds } = checkedRuntime(options);
    this.#options = options;
    this.#closing = new Promise((resolve) => {
      this.#tellClosing = resolve;
    });
    this.#agents = new Agents(agents, onVersionChange);
    this.#clock = clock;
    this.#ids = ids;
    this.#pool = new SessionPool((sessionId) => this.#read(sessionId), options.keepInMemory ?? 100);
    this.#expiry = createExpiry(options.approvals, clock, () => this.#wake());
    this.#host = {
      store,
      agents: this.#agents,
      now: () => clock.now(),
      contextOf: (session) => this.#contextOf(session),
      onProblem: (error, where) => {
        this.#report(error, where);
      },
      ...(options.onEvent !== undefined && { onEvent: options.onEvent }),
      expiresAt: (wait, askedAt) => this.#expiry.expiresAt(wait, askedAt),
      isClosing: () => this.#closed !== undefined,
      untilClosing: (direct) => ({ ...direct, sleep: (key, ms) => Promise.race([direct.sleep(key, ms), this.#closing.then(cancelled)]) }),
      onStored: (sessionId) => {
        this.#tell(sessionId);
      },
      onRest: (session, failure) => {
        this.#rest(session, failure);
      },
    };
    this.ready = this.#begin();
    // Whoever calls a method hears of it.
    this.ready.catch(() => undefined);
  }

  async create(session: NewSession, options: ActOptions): Promise<Session> {
    const act = checkedOptions(options);
    const { agent: agentId, tenant, owner, tags = [], id = await this.#idFor('create', act) } = checkedNew(session);
    const home = await this.#open();
    const agent = this.#agents.newest(agentId);
    const { states } = agent;
    const checked = checkedFacts({ id, tenant, owner, tags });
    const facts: SessionFacts = { ...checked, agent: identityOf(agent), createdAt: this.#clock.now() };
    const state = states.empty({ clock: this.#clock, ids: startingWith(id, this.#ids) });
    return this.#make(home, { facts, states, state, act: { type: 'create', by: act.by, at: this.#clock.now() } }, act.requestId);
  }

  async send(sessionId: string, content: MessageContent | Message, options: ActOptions): Promise<Turn> {
    if (!isMessageContent(content)) throw new InvalidArgumentError('send(sessionId, content, { by }) takes text, a message or parts.');
    const message = content instanceof Message ? content : Message.user(content, { ids: this.#ids });
    if (message.isEmpty) throw new InvalidArgumentError('send(sessionId, content, { by }) needs something to say; the message is empty.');
    return this.#perform(sessionId, options, { type: 'send', message: message.toJSON() });
  }

  async resume(sessionId: string, options: ActOptions): Promise<Turn> {
    return this.#perform(sessionId, options, { type: 'resume' });
  }

  async cancel(sessionId: string, reason: string, options: ActOptions): Promise<Turn> {
    return this.#perform(sessionId, options, { type: 'cancel', reason: checkedText(reason, 'The reason of cancel(sessionId, reason)') });
  }

  async approve(sessionId: string, wait: ApprovedWait, options: ActOptions & { readonly args?: unknown }): Promise<Turn> {
    const { waitId, digest } = checkedWait(sessionId, wait);
    if (digest === undefined)
      throw new InvalidArgumentError('approve(sessionId, wait, …) needs the digest of what was shown; hand back the wait itself.');
    checkedOptions(options);
    const edited = options.args === undefined ? {} : { args: givenValue(options.args, 'The edited arguments') };
    return this.#perform(sessionId, options, { type: 'approve', waitId, digest, ...edited });
  }

  async reject(sessionId: string, wait: AnsweredWait, options: ActOptions & { readonly reason?: string }): Promise<Turn> {
    checkedOptions(options);
    const reason = checkedText(options.reason ?? 'no reason was given', 'The reason of a rejection');
    return this.#perform(sessionId, options, { type: 'reject', ...checkedWait(sessionId, wait), reason });
  }

  async answer(sessionId: string, wait: AnsweredWait, options: ActOptions & { readonly value: unknown }): Promise<Turn> {
    checkedOptions(options);
    const value = givenValue(options.value, 'The answer');
    return this.#perform(sessionId, options, { type: 'answer', ...checkedWait(sessionId, wait), value });
  }

  async grant(sessionId: string, amounts: Grant, options: ActOptions): Promise<Turn> {
    return this.#perform(sessionId, options, { type: 'grant', amounts: checkedGrant(amounts) });
  }

  async fork(sessionId: string, at: Omit<ForkPoint, 'sessionId'>, options: ActOptions & Omit<NewSession, 'agent'>): Promise<Session> {
    const act = checkedOptions(options);
    const from: ForkPoint = { sessionId: checkedText(sessionId, 'A session id'), ...checkedPoint(at) };
    const { id = await this.#idFor(`fork ${sessionId}`, act) } = options;
    const home = await this.#open();
    return this.#pool.use(sessionId, async ({ log: { facts: source, states } }) => {
      const { tenant = source.tenant, owner = source.owner, tags = source.tags } = options;
      const checked = checkedFacts({ id, tenant, owner, tags });
      const facts: SessionFacts = { ...checked, agent: source.agent, createdAt: this.#clock.now(), forkedFrom: from };
      const then = await stateAfterStep(this.#options.store, states, from);
      const state = then.fork({ id, executionId: `${id}/${from.execution}`, clock: this.#clock, ids: this.#ids });
      return this.#make(home, { facts, states, state, act: { type: 'fork', from, by: act.by, at: this.#clock.now() } }, act.requestId);
    });
  }

  async get(sessionId: string): Promise<Session> {
    checkedText(sessionId, 'A session id');
    await this.ready;
    return this.#pool.use(sessionId, (session) => session.view());
  }

  async list(query: SessionQuery = {}): Promise<ListedSessions> {
    await this.ready;
    const { sessions, cursor } = await this.#options.store.list(query);
    return { sessions: sessions.map(toSummary), ...(cursor !== undefined && { cursor }) };
  }

  events(sessionId: string, fromSeq = 0, options: EventsOptions = {}): AsyncIterable<StoredEvent> {
    const { store } = this.#options;
    checkedText(sessionId, 'A session id');
    const state = () => this.#pool.use(sessionId, ({ log }) => log.state);
    return followEvents(checkedSeq(fromSeq), {
      ...options,
      read: (afterSeq) => store.entries(sessionId, { afterSeq, limit: 200 }),
      stateOf: state,
      open: async () => {
        await this.ready;
        await state();
      },
      onMore: (call) => this.#follow(sessionId, call),
      isOver: () => this.#closed !== undefined,
    });
  }

  async drain({ timeoutMs = 30_000 }: { readonly timeoutMs?: number } = {}): Promise<void> {
    checkedMs(timeoutMs, 'timeoutMs of drain()');
    this.#close('it was drained');
    await this.ready.catch(() => undefined);
    let cancel: (() => void) | undefined;
    const late = new Promise<void>((resolve) => {
      cancel = this.#clock.schedule(timeoutMs, resolve);
    });
    await Promise.race([Promise.all(this.#pool.all.map((session) => session.whenAtRest())), late]);
    cancel?.();
    this.#end('it was drained', new RuntimeClosedError('it was drained'));
  }

  async #begin(): Promise<Recovery> {
    const { store } = this.#options;
    const epoch = await store.claim();
    this.#home = { store, epoch, now: () => this.#clock.now(), wakeAt: (state) => this.#expiry.wakeAt(state) };
    const resumed: string[] = [];
    const failed: { readonly sessionId: string; readonly error: unknown }[] = [];
    for await (const { id: sessionId, damage } of this.#listed({ isOpen: true })) {
      if (this.#closed !== undefined) break;
      try {
        await this.#pool.use(sessionId, (session) => {
          // Refuses now what cannot be carried on: another version of its agent, a missing one.
          this.#agents.successorOf(session.log.facts.agent);
          session.carryOn();
        });
        // What was damaged has been mended, or it would not have been read.
        if (damage !== undefined) await store.quarantine(sessionId, undefined);
        resumed.push(sessionId);
      } catch (error) {
        failed.push({ sessionId, error });
        this.#report(error, `session ${sessionId}`);
      }
    }
    if (this.#expiry.isOn && this.#closed === undefined) {
      await this.#noteExpiries();
      this.#expiry.start();
    }
    return { resumed, failed };
  }

  /** Approvals that were asked for before they could expire. */
  async #noteExpiries(): Promise<void> {
    for await (const { id, header } of this.#listed({ status: 'waiting' })) {
      if (header !== undefined && header.wakeAt === undefined)
        await this.#pool.use(id, (session) => this.#touch(session)).catch(() => undefined);
    }
  }

  async #touch(session: LiveSession): Promise<void> {
    if (this.#expiry.wakeAt(session.log.state) !== undefined) await session.touch();
  }

  /** All sessions that fit. */
  async *#listed(query: SessionQuery): AsyncGenerator<ListedSession, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.#options.store.list({ ...query, limit: 1000, ...(cursor !== undefined && { cursor }) });
      yield* page.sessions;
      ({ cursor } = page);
    } while (cursor !== undefined);
  }

  async #contextOf(session: SessionFacts): Promise<unknown> {
    try {
      return await this.#options.context?.(session);
    } catch (error) {
      throw new ContextFailedError(session.id, error);
    }
  }

  /** The id of a new session: the same for the same request, so that repeating it makes no second one. */
  async #idFor(what: string, { by, requestId }: ActOptions): Promise<string> {
    return requestId === undefined ? this.#ids() : (await digestOf({ what, by: by.id, kind: by.kind, requestId })).slice(0, 32);
  }

  async #open(): Promise<LogHome> {
    await this.ready;
    if (this.#closed !== undefined) throw new RuntimeClosedError(this.#closed);
    // Holds: it is set before the runtime is ready.
    return this.#home as LogHome;
  }

  async #perform(sessionId: string, options: ActOptions, deed: Deed): Promise<Turn> {
    const act = checkedOptions(options);
    checkedText(sessionId, 'A session id');
    await this.#open();
    return this.#pool.use(sessionId, (session) => session.perform(deed, act));
  }

  async #make(home: LogHome, parts: Parameters<typeof SessionLog.create>[1], requestId: string | undefined): Promise<Session> {
    try {
      const session = new LiveSession(await SessionLog.create(home, parts, requestId), this.#host);
      this.#pool.add(session);
      return await session.view();
    } catch (error) {
      if (!(error instanceof SessionConflictError) || requestId === undefined) throw error;
      const [first] = await this.#options.store.entries(parts.facts.id, { to: 1 });
      if (first?.requestId !== requestId) throw error;
      return this.get(parts.facts.id);
    }
  }

  async #read(sessionId: string): Promise<LiveSession> {
    const { store } = this.#options;
    try {
      const stored = await store.load(sessionId);
      if (stored === undefined) throw new UnknownSessionError(sessionId);
      const { states } = this.#agents.newest(stored.header.agentId);
      const kind = kindOf(stored);
      if (kind !== states.kind) throw new WrongKindError(states.kind, kind);
      // Holds: sessions are read only once the store is claimed.
      return new LiveSession(SessionLog.from(this.#home as LogHome, stored, states), this.#host);
    } catch (error) {
      if (error instanceof SessionDamagedError) await store.quarantine(sessionId, error.damage);
      throw error;
    }
  }

  #rest(session: LiveSession, failure: { readonly error: unknown } | undefined): void {
    if (failure === undefined) {
      this.#expiry.watch(this.#expiry.wakeAt(session.log.state));
      this.#pool.forgetSome();
      return;
    }
    this.#pool.drop(session);
    const { error } = failure;
    // What ends with the runtime was told by whoever ended it.
    if (this.#closed === undefined) this.#report(error, `session ${session.id}`);
    if (!SteplineError.is(error)) return;
    if (error.code === 'store-fenced') this.#end('another runtime has taken the store over', error);
    else if (error.code === 'store-unavailable') this.#tryLater(session.id);
  }

  /** A store that failed may work again: what is left to do is then carried on, also where nobody asks for it. */
  #tryLater(sessionId: string): void {
    if (this.#closed !== undefined) return;
    this.#later.add(sessionId);
    this.#cancelLater ??= this.#clock.schedule(retryStoreMs, () => {
      this.#cancelLater = undefined;
      const ids = [...this.#later];
      this.#later.clear();
      for (const id of ids) {
        this.#pool
          .use(id, (session) => {
            session.carryOn();
          })
          .catch((error: unknown) => {
            if (SteplineError.is(error) && error.code === 'store-unavailable') this.#tryLater(id);
            else this.#report(error, `session ${id}`);
          });
      }
    });
  }

  /** Settles the approvals whose time has come; gives the times of those whose time comes soon. */
  async #wake(): Promise<readonly number[]> {
    const soon: number[] = [];
    const now = this.#clock.now();
    try {
      for await (const { id, header, damage } of this.#listed({ wakeBefore: now + lookAheadMs })) {
        if (header?.wakeAt !== undefined && header.wakeAt > now) soon.push(header.wakeAt);
        else if (damage === undefined) await this.#expire(id);
      }
    } catch (error) {
      this.#report(error, 'looking for approvals that have expired');
    }
    return soon;
  }

  async #expire(sessionId: string): Promise<void> {
    try {
      await this.#pool.use(sessionId, (session) => session.expire(this.#expiry.whenExpired));
    } catch (error) {
      this.#report(error, `the expiry of session ${sessionId}`);
    }
  }

  #tell(sessionId: string): void {
    for (const call of [...(this.#followers.get(sessionId) ?? [])]) call();
  }

  #follow(sessionId: string, call: () => void): () => void {
    const calls = this.#followers.get(sessionId) ?? new Set();
    this.#followers.set(sessionId, calls.add(call));
    return () => {
      calls.delete(call);
      if (calls.size === 0) this.#followers.delete(sessionId);
    };
  }

  /** Nothing more is done from here, not even what is under way. */
  #end(why: string, error: unknown): void {
    this.#close(why);
    for (const session of this.#pool.all) session.letGo(error);
  }

  #close(why: string): void {
    this.#closed ??= why;
    this.#cancelLater?.();
    this.#tellClosing();
    this.#expiry.stop();
    for (const sessionId of this.#followers.keys()) this.#tell(sessionId);
  }

  #report(error: unknown, where: string): void {
    reportSafely(this.#options.onProblem ?? reportToConsole, error, where);
  }
}
