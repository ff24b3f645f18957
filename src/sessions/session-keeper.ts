// The sessions of one store, as the one who may write keeps them.
// Owns:     the claim on the store, which sessions are in memory, what is carried on by itself, and when all of it ends.
// Does not: know what a session holds, how a step is taken, or who may ask for what.
// R1. What was interrupted is found at the start and carried on; what is damaged is set aside, and harms nobody else.
// R2. Once another has claimed the store, nothing more is done here.
import type { Effects } from '../effects/index.ts';
import { cancelledEffect } from '../effects/index.ts';
import { reportSafely, reportToConsole } from '../events/index.ts';
import type { Clock, Json } from '../lib/index.ts';
import { jsonEquals, SteplineError, systemClock } from '../lib/index.ts';
import { WrongKindError } from '../serialization/index.ts';
import type { Action } from './action.ts';
import { Agents, OnVersionChange } from './agents.ts';
import { Calls } from './calls.ts';
import { ContextFailedError } from './context-failed-error.ts';
import { readBody } from './entry-body.ts';
import type { Expiry } from './expiry.ts';
import { createExpiry, lookAheadMs } from './expiry.ts';
import type { SessionHost } from './live-session.ts';
import { LiveSession } from './live-session.ts';
import type { Recovery, SessionRuntimeOptions } from './runtime-options.ts';
import { RequestReusedError } from './request-reused-error.ts';
import { RuntimeClosedError } from './runtime-closed-error.ts';
import type { Session, SessionFacts } from './session.ts';
import { SessionConflictError } from './session-conflict-error.ts';
import { SessionDamagedError } from './session-damaged-error.ts';
import type { LogHome, NewLog } from './session-log.ts';
import { readKind, SessionLog } from './session-log.ts';
import { SessionPool } from './session-pool.ts';
import type { ListedSession, SessionQuery, SessionStore } from './session-store.ts';
import { UnknownSessionError } from './unknown-session-error.ts';

/** The longest sleep in one go. */
const legMs = 1000;

/** How long to wait before a store that failed is tried again. */
const retryStoreMs = 10_000;

/** True where a session was made by the same person, with the same wishes. */
function isSameRequest({ facts, action }: NewLog, { log }: LiveSession, made: Action | undefined): boolean {
  const wishes = ({ agent, tenant, owner, tags, forkedFrom }: SessionFacts): Json => ({
    agent: agent.id,
    tenant: tenant ?? null,
    owner: owner ?? null,
    tags,
    from: forkedFrom === undefined ? null : { ...forkedFrom },
  });
  return made !== undefined && jsonEquals({ ...made.by }, { ...action.by }) && jsonEquals(wishes(facts), wishes(log.facts));
}

export class SessionKeeper {
  readonly ready: Promise<Recovery>;
  readonly agents: Agents;
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly #options: SessionRuntimeOptions;
  readonly #pool: SessionPool;
  readonly #expiry: Expiry;
  readonly #host: SessionHost;
  /** Who wants to hear when more of a session is stored, by its id. */
  readonly #followers = new Map<string, Calls>();
  /** Who wants to hear that all of it ends. */
  readonly #closing = new Calls();
  /** Sessions that a failing store left undone. */
  readonly #later = new Set<string>();
  #cancelLater: (() => void) | undefined;
  /** Settles when the store is claimed. */
  readonly #home: Promise<LogHome>;
  #closed: string | undefined;

  constructor(options: SessionRuntimeOptions) {
    const { agents, store, onVersionChange = OnVersionChange.Continue, clock = systemClock, keepInMemory = 100, approvals } = options;
    this.#options = options;
    this.store = store;
    this.clock = clock;
    this.agents = new Agents(agents, onVersionChange);
    this.#pool = new SessionPool((sessionId) => this.#read(sessionId), keepInMemory);
    this.#expiry = createExpiry(approvals, clock, () => this.#wake());
    this.#host = this.#createHost();
    this.#home = this.#claim();
    this.ready = this.#begin();
    // Whoever asks for something hears of it; what was taken up already must not go on alone.
    this.ready.catch((error: unknown) => {
      this.#end('it could not begin', error);
    });
  }

  get isClosed(): boolean {
    return this.#closed !== undefined;
  }

  /** Where sessions are written; refuses where that has ended. */
  async open(): Promise<LogHome> {
    await this.ready;
    if (this.#closed !== undefined) throw new RuntimeClosedError(this.#closed);
    return this.#home;
  }

  /** Works with a session. */
  async use<Value>(sessionId: string, work: (session: LiveSession) => Value | Promise<Value>): Promise<Value> {
    await this.ready;
    return this.#pool.use(sessionId, work);
  }

  /** Makes a session. The same request makes none again, and gives the one that it made. */
  async make(parts: NewLog, requestId: string | undefined): Promise<Session> {
    const { id } = parts.facts;
    try {
      const session = new LiveSession(await SessionLog.create(await this.open(), parts, requestId), this.#host);
      this.#pool.add(session);
      return await session.view();
    } catch (error) {
      if (!(error instanceof SessionConflictError) || requestId === undefined) throw error;
      const [first] = await this.store.entries(id, { to: 1 });
      if (first?.requestId !== requestId) throw error;
      return this.#pool.use(id, (session) => {
        if (!isSameRequest(parts, session, readBody(first.body).action)) throw new RequestReusedError(requestId);
        return session.view();
      });
    }
  }

  /** Calls back when more of a session is stored, and when all of it ends; returns its unsubscribe. */
  follow(sessionId: string, call: () => void): () => void {
    const followers = this.#followers.get(sessionId) ?? new Calls();
    this.#followers.set(sessionId, followers);
    const [leave, leaveClosing] = [followers.add(call), this.#closing.add(call)];
    return () => {
      leave();
      leaveClosing();
      if (followers.isEmpty) this.#followers.delete(sessionId);
    };
  }

  /** Takes no more work, and lets what is under way end for as long as it is given. */
  async drain(timeoutMs: number): Promise<void> {
    this.#close('it was drained');
    await this.ready.catch(() => undefined);
    let cancel: (() => void) | undefined;
    const late = new Promise<void>((resolve) => {
      cancel = this.clock.schedule(timeoutMs, resolve);
    });
    await Promise.race([Promise.all(this.#pool.all.map((session) => session.whenAtRest())), late]);
    cancel?.();
    this.#end('it was drained', new RuntimeClosedError('it was drained', { isStored: true }));
  }

  #createHost(): SessionHost {
    const { onEvent } = this.#options;
    return {
      store: this.store,
      agents: this.agents,
      now: () => this.clock.now(),
      contextOf: (session) => this.#createContext(session),
      onProblem: (error, where) => {
        this.#report(error, where);
      },
      ...(onEvent !== undefined && { onEvent }),
      expiresAt: (wait, askedAt) => this.#expiry.expiresAt(wait, askedAt),
      isClosing: () => this.isClosed,
      whyClosed: () => this.#closed,
      untilClosing: (direct) => this.#untilClosing(direct),
      onStored: (sessionId) => this.#followers.get(sessionId)?.call(),
      onRest: (session, failure) => {
        this.#rest(session, failure);
      },
    };
  }

  async #claim(): Promise<LogHome> {
    const epoch = await this.store.claim();
    return { store: this.store, epoch, now: () => this.clock.now(), wakeAt: (state) => this.#expiry.wakeAt(state) };
  }

  async #begin(): Promise<Recovery> {
    await this.#home;
    const resumed: string[] = [];
    const failed: { readonly sessionId: string; readonly error: unknown }[] = [];
    for await (const listed of this.#listAll({ isOpen: true })) {
      if (this.isClosed) break;
      try {
        await this.#resume(listed);
        resumed.push(listed.id);
      } catch (error) {
        failed.push({ sessionId: listed.id, error });
        this.#report(error, `session ${listed.id}`);
      }
    }
    if (this.#expiry.isOn && !this.isClosed) {
      await this.#noteExpiries();
      this.#expiry.start();
    }
    return { resumed, failed };
  }

  async #resume({ id, damage }: Pick<ListedSession, 'id' | 'damage'>): Promise<void> {
    await this.#pool.use(id, (session) => {
      // Refuses now what cannot be carried on: another version of its agent, a missing one.
      this.agents.findSuccessor(session.log.facts.agent);
      session.carryOn();
    });
    // What was damaged has been mended, or it would not have been read.
    if (damage !== undefined) await this.store.quarantine(id, undefined);
  }

  /** Approvals that were asked for before they could expire. */
  async #noteExpiries(): Promise<void> {
    for await (const { id, header } of this.#listAll({ status: 'waiting' })) {
      if (header === undefined || header.wakeAt !== undefined) continue;
      const touch = async (session: LiveSession): Promise<void> => {
        if (this.#expiry.wakeAt(session.log.state) !== undefined) await session.touch();
      };
      await this.#pool.use(id, touch).catch((error: unknown) => {
        this.#report(error, `session ${id}`);
      });
    }
  }

  /** All sessions that fit. */
  async *#listAll(query: SessionQuery): AsyncGenerator<ListedSession, void, undefined> {
    let cursor: string | undefined;
    do {
      const page = await this.store.list({ ...query, limit: 1000, ...(cursor !== undefined && { cursor }) });
      yield* page.sessions;
      ({ cursor } = page);
    } while (cursor !== undefined);
  }

  async #createContext(session: SessionFacts): Promise<unknown> {
    try {
      return await this.#options.context?.(session);
    } catch (error) {
      throw new ContextFailedError(session.id, error);
    }
  }

  #untilClosing(direct: Effects): Effects {
    // In legs, so that no long timer is left behind when the runtime ends.
    const sleep: Effects['sleep'] = async (key, ms) => {
      for (let left = ms; left > legMs; left -= legMs) {
        const leg = await this.#sleepLeg(direct, key, legMs);
        if (!leg.ok) return leg;
      }
      return this.#sleepLeg(direct, key, ms % legMs || Math.min(ms, legMs));
    };
    return { run: (key, work, options) => direct.run(key, work, options), sleep };
  }

  async #sleepLeg(direct: Effects, key: string, ms: number): ReturnType<Effects['sleep']> {
    if (this.isClosed) return cancelledEffect();
    let leave: (() => void) | undefined;
    const closing = new Promise<ReturnType<typeof cancelledEffect>>((resolve) => {
      leave = this.#closing.add(() => {
        resolve(cancelledEffect());
      });
    });
    return Promise.race([direct.sleep(key, ms), closing]).finally(leave);
  }

  async #read(sessionId: string): Promise<LiveSession> {
    try {
      const stored = await this.store.load(sessionId);
      if (stored === undefined) throw new UnknownSessionError(sessionId);
      const { states } = this.agents.newest(stored.header.agentId);
      const kind = readKind(stored);
      if (kind !== states.kind) throw new WrongKindError(states.kind, kind);
      return new LiveSession(SessionLog.from(await this.#home, stored, states), this.#host);
    } catch (error) {
      if (error instanceof SessionDamagedError) await this.store.quarantine(sessionId, error.damage);
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
    if (!this.isClosed) this.#report(error, `session ${session.id}`);
    if (!SteplineError.is(error)) return;
    if (error.code === 'store-fenced') this.#end('another runtime has taken the store over', error);
    else if (error.code === 'store-unavailable') this.#retryLater(session.id);
  }

  /** A store that failed may work again: what is left to do is then carried on, also where nobody asks for it. */
  #retryLater(sessionId: string): void {
    if (this.isClosed) return;
    this.#later.add(sessionId);
    this.#cancelLater ??= this.clock.schedule(retryStoreMs, () => {
      this.#cancelLater = undefined;
      const ids = [...this.#later];
      this.#later.clear();
      for (const id of ids) {
        this.#resume({ id }).catch((error: unknown) => {
          if (SteplineError.is(error) && error.code === 'store-unavailable') this.#retryLater(id);
          else this.#report(error, `session ${id}`);
        });
      }
    });
  }

  /** Settles the approvals whose time has come; gives the times of those whose time comes soon. */
  async #wake(): Promise<readonly number[]> {
    const soon: number[] = [];
    const now = this.clock.now();
    try {
      for await (const { id, header, damage } of this.#listAll({ wakeBefore: now + lookAheadMs })) {
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

  /** Nothing more is done from here, not even what is under way. */
  #end(why: string, error: unknown): void {
    this.#close(why);
    for (const session of this.#pool.all) session.letGo(error);
  }

  #close(why: string): void {
    this.#closed ??= why;
    this.#cancelLater?.();
    this.#expiry.stop();
    this.#closing.call();
  }

  #report(error: unknown, where: string): void {
    reportSafely(this.#options.onProblem ?? reportToConsole, error, where);
  }
}
