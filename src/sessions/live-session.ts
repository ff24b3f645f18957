// A session that is in memory.
// Owns:     the order of what happens to it: acts, the run, what is done at each boundary, and who waits for what came of it.
// Does not: store anything itself (the log does), or know other sessions.
// A1. One run at a time. What comes while it lasts is stored at once and taken in at the next boundary, in order.
// A2. An act is stored before anything comes of it; a request that was stored once has no effect again.
// A3. Whoever acted hears how the execution came to rest that took the act in.
// A4. Where the store fails, nothing goes on from memory: the session is let go of, and read again.
import type { BaseEvent } from '../events/index.ts';
import type { Json, JsonObject } from '../lib/index.ts';
import { jsonEquals } from '../lib/index.ts';
import type { Between, Commit, RunState } from '../step-by-step/index.ts';
import type { Act, ActOptions, Deed } from './act.ts';
import type { Agents } from './agents.ts';
import { applied, checkAnswer, isAnswer } from './answers.ts';
import { readBody } from './entry-body.ts';
import { RequestReusedError } from './request-reused-error.ts';
import { RuntimeClosedError } from './runtime-closed-error.ts';
import type { Session, SessionFacts, SessionWait, Turn } from './session.ts';
import type { SessionAgent } from './session-agent.ts';
import { identityOf } from './session-agent.ts';
import type { SessionLog } from './session-log.ts';
import { hasWork } from './session-log.ts';
import type { LogEntry, SessionStore } from './session-store.ts';
import { toSession, toTurn } from './views.ts';

/** What a session needs of its runtime. */
export interface SessionHost {
  readonly store: SessionStore;
  readonly agents: Agents;
  readonly now: () => number;
  readonly contextOf: (session: SessionFacts) => unknown;
  readonly onEvent?: (event: BaseEvent, session: SessionFacts) => unknown;
  readonly expiresAt: (wait: Pick<SessionWait, 'type'>, parkedAt: number) => number | undefined;
  /** True where no further step is to begin. */
  readonly isClosing: () => boolean;
  /** More of a session can be read. */
  readonly onStored: (sessionId: string) => void;
  /** A session has come to rest, or cannot be carried on from memory. */
  readonly onRest: (session: LiveSession, failure?: { readonly error: unknown }) => void;
}

/** Somebody who waits for what comes of an act. */
interface Waiter {
  /** The execution that took the act in; undefined while it waits. */
  execution?: number;
  /** The entry of an act that waits to be taken in. */
  readonly entry?: number;
  readonly resolve: (execution: number) => void;
  readonly reject: (error: unknown) => void;
}

/** An act that is stored. */
interface Begun {
  /** In an object, because a promise of a promise is just the promise. */
  readonly coming: { readonly end: Promise<number> };
  readonly isRepeated: boolean;
}

/** Taken in between two steps; everything else waits for the run to rest. */
const isForRunning = ({ type }: Deed): boolean => type === 'send' || type === 'grant';

// Every message has an id of its own; that it was sent again is told by what it says.
function contentOf(deed: Deed): Json {
  const { by: _, at: __, ...rest } = deed as Act;
  if (rest.type !== 'send') return rest as unknown as JsonObject;
  const { id: ___, ...message } = rest.message;
  return { type: 'send', message };
}

export class LiveSession {
  readonly log: SessionLog;
  readonly #host: SessionHost;
  readonly #waiters = new Set<Waiter>();
  readonly #requests = new Map<string, { readonly act: Act; readonly coming: Begun['coming'] }>();
  #acting: Promise<unknown> = Promise.resolve();
  #running: Promise<void> | undefined;
  #isOver = false;
  /** Ends the run that is under way. */
  #abort: AbortController | undefined;
  /** Why the next run ends at once. */
  #cancelled: string | undefined;

  constructor(log: SessionLog, host: SessionHost) {
    this.log = log;
    this.#host = host;
  }

  get id(): string {
    return this.log.id;
  }
  get isRunning(): boolean {
    return this.#running !== undefined;
  }
  /** True while somebody or something needs it in memory. */
  get isBusy(): boolean {
    return this.#running !== undefined || this.#waiters.size > 0;
  }
  /** Settles when nothing is under way. */
  async whenAtRest(): Promise<void> {
    while (this.#running !== undefined) await this.#running.catch(() => undefined);
  }

  view(): Promise<Session> {
    return toSession(this.log.facts, this.log.state, this.#host);
  }

  /** Does something to the session, and gives what came of it. */
  async perform(deed: Deed, options: ActOptions): Promise<Turn> {
    const { requestId, until = 'rest' } = options;
    const { coming, isRepeated } = await this.#exclusively(() => this.#begin(deed, options));
    const execution = until === 'accepted' ? this.log.state.execution.number : await coming.end;
    if (requestId !== undefined && until === 'rest') this.#requests.delete(requestId);
    const turn = await this.#turn(execution);
    return isRepeated ? { ...turn, isRepeated } : turn;
  }

  /** Goes on with what is left to do; nothing where that is nothing. */
  carryOn(): Promise<void> {
    if (this.#running === undefined && this.log.isOpen) this.#start();
    return this.#running ?? Promise.resolve();
  }

  /** Settles the approvals whose time has come. */
  async expire(decision: 'approve' | 'reject'): Promise<void> {
    const { waitingFor } = await this.view();
    const by = { id: 'expiry', kind: 'system' };
    for (const { id: waitId, digest, expiresAt = Number.POSITIVE_INFINITY } of waitingFor) {
      if (expiresAt > this.#host.now()) continue;
      const deed: Deed =
        decision === 'approve'
          ? { type: 'approve', waitId, digest }
          : { type: 'reject', waitId, digest, reason: `nobody answered until ${new Date(expiresAt).toISOString()}` };
      await this.perform(deed, { by, until: 'accepted' });
    }
  }

  /** Nothing more is done or stored from here. */
  letGo(error: unknown): void {
    this.#fail(error);
  }

  #turn(execution: number): Promise<Turn> {
    return toTurn(this.log.facts, this.log.state, { ...this.#host, execution });
  }

  #exclusively<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#acting.then(work);
    this.#acting = done.catch(() => undefined);
    return done;
  }

  /** Stores an act. What comes of it is awaited outside, so that others can act meanwhile. */
  async #begin(deed: Deed, { by, requestId }: ActOptions): Promise<Begun> {
    if (this.#isOver) throw new RuntimeClosedError('the session was let go of; ask again');
    const repeated = requestId === undefined ? undefined : await this.#repeated(requestId, deed);
    if (repeated !== undefined) return repeated;
    // Refused before anything is stored, where nobody could carry the session on.
    if (deed.type !== 'cancel') this.#agent();
    if (isAnswer(deed)) await this.#checkAnswer(deed);
    const act: Act = { ...deed, by, at: this.#host.now() };
    // A step that was begun goes on as it was: what comes now follows it, whether or not it is under way at the moment.
    const isOpenStep = this.#running !== undefined || !this.log.journal.isEmpty;
    const waiter = isOpenStep ? this.#queue(act, requestId) : this.#apply(act, requestId);
    const coming = { end: this.#awaited(waiter.about) };
    if (requestId !== undefined) this.#requests.set(requestId, { act, coming });
    try {
      await waiter.stored;
    } catch (error) {
      this.#fail(error);
      throw error;
    }
    this.#host.onStored(this.id);
    if (this.#running === undefined) this.#start();
    return { coming, isRepeated: false };
  }

  #awaited(about: Pick<Waiter, 'entry' | 'execution'>): Promise<number> {
    const coming = new Promise<number>((resolve, reject) => {
      this.#waiters.add({ ...about, resolve, reject });
    });
    // Whoever does not wait for the end leaves nothing unhandled behind.
    coming.catch(() => undefined);
    return coming;
  }

  #checkAnswer(deed: Extract<Deed, { readonly waitId: string }>): Promise<void> {
    const { store } = this.#host;
    const surroundings = { sessionId: this.id, state: this.log.state, store, agent: this.#agent() };
    return checkAnswer(deed, surroundings, this.#running !== undefined);
  }

  #apply(act: Act, requestId: string | undefined): { readonly stored: Promise<void>; readonly about: Pick<Waiter, 'execution'> } {
    const { state } = this.log;
    // Where nothing waits, a cancel ends what would go on.
    const isEndedByRun = act.type === 'cancel' && state.waitingFor.length === 0;
    const next = isEndedByRun ? state : applied(state, act);
    if (isEndedByRun && hasWork(state)) this.#cancelled = act.reason;
    const stored = this.log.append({ act, execution: next.execution.number }, { state: next, requestId });
    return { stored, about: { execution: next.execution.number } };
  }

  #queue(act: Act, requestId: string | undefined): { readonly stored: Promise<void>; readonly about: Pick<Waiter, 'entry' | 'execution'> } {
    if (act.type === 'cancel' || act.type === 'resume') {
      if (act.type === 'cancel') this.#end(act.reason);
      const execution = this.log.state.execution.number;
      return { stored: this.log.append({ act, execution }, { requestId }), about: { execution } };
    }
    const stored = this.log.append({ act, isQueued: true }, { requestId });
    return { stored, about: { entry: this.log.head } };
  }

  /** Ends the run that is under way, or the one that enters an open step again. */
  #end(reason: string): void {
    if (this.#running === undefined) this.#cancelled = reason;
    else this.#abort?.abort(reason);
  }

  /** What came of a request that was made before; undefined where it was not. */
  async #repeated(requestId: string, deed: Deed): Promise<Begun | undefined> {
    const open = this.#requests.get(requestId);
    const entry = open === undefined ? await this.#host.store.findRequest(this.id, requestId) : undefined;
    const act = open?.act ?? (entry === undefined ? undefined : readBody(entry.body).act);
    if (act === undefined) return undefined;
    if (!jsonEquals(contentOf(act), contentOf(deed))) throw new RequestReusedError(requestId);
    if (open !== undefined) return { coming: open.coming, isRepeated: true };
    // Holds: where it is not open in memory it was found in the store.
    return { coming: await this.#comingOf(entry as LogEntry), isRepeated: true };
  }

  /** The end of the execution that took in, or will take in, the act of a stored entry. */
  async #comingOf({ n, body }: LogEntry): Promise<Begun['coming']> {
    const { isQueued, execution } = readBody(body);
    if (isQueued !== true) return this.#endOf(execution);
    if (this.log.queued.has(n)) return { end: this.#awaited({ entry: n }) };
    const later = await this.#host.store.entries(this.id, { from: n + 1 });
    const taking = later.map((entry) => readBody(entry.body)).find(({ taken }) => taken?.includes(n) === true);
    return this.#endOf(taking?.execution);
  }

  #endOf(execution = this.log.state.execution.number): Begun['coming'] {
    const isUnderWay = this.#running !== undefined && execution === this.log.state.execution.number;
    return { end: isUnderWay ? this.#awaited({ execution }) : Promise.resolve(execution) };
  }

  #agent(): SessionAgent {
    return this.#host.agents.successorOf(this.log.facts.agent);
  }

  #start(): void {
    this.#running = this.#carryOn().then(
      () => undefined,
      (error: unknown) => {
        this.#fail(error);
      },
    );
  }

  async #carryOn(): Promise<void> {
    for (;;) {
      await this.#takeQueued();
      const { state } = this.log;
      const isDone = !hasWork(state) && state.data.owesEvents !== true;
      if (isDone && this.log.queued.size > 0) continue;
      if (isDone || this.#host.isClosing()) break;
      const before = this.log.head;
      await this.#runOnce();
      this.#settle(state.execution.number);
      if (this.log.head === before) break;
    }
    // From here on nothing is awaited until the session is at rest: what comes now finds it so.
    this.#running = undefined;
    this.#settle(this.log.state.execution.number);
    if (this.#host.isClosing()) return;
    await this.log.rest();
    this.#host.onRest(this);
  }

  async #runOnce(): Promise<void> {
    const agent = this.#agent();
    const identity = identityOf(agent);
    const { facts, state } = this.log;
    if (!jsonEquals(identity as unknown as Json, facts.agent as unknown as Json)) this.log.facts = { ...facts, agent: identity };
    const context = await this.#host.contextOf(this.log.facts);
    const { onEvent } = this.#host;
    const abort = new AbortController();
    if (this.#cancelled !== undefined) abort.abort(this.#cancelled);
    this.#cancelled = undefined;
    this.#abort = abort;
    try {
      await agent.run(state, {
        context,
        signal: abort.signal,
        ...(onEvent !== undefined && { onEvent: (event: BaseEvent) => onEvent(event, this.log.facts) }),
        executionId: `${this.id}/${state.execution.number}`,
        effects: (direct) => this.log.journal.wrap(direct, `${state.execution.number}/`),
        commit: (commit) => this.#commit(commit),
        // Holds: what it gives is made from the state that it gets.
        between: (current) => this.#between(current) as Between<never>,
      });
    } finally {
      this.#abort = undefined;
    }
  }

  async #commit({ state, result, events }: Commit<RunState>): Promise<void> {
    this.log.journal.check();
    await this.log.append({}, { state, result, events, endsStep: true });
    this.#host.onStored(this.id);
  }

  #between(state: RunState): Between<RunState> {
    if (this.#host.isClosing()) return { leave: true };
    // A step that was begun before goes on as it was; what came since follows it.
    if (!this.log.journal.isEmpty) return undefined;
    const waiting = [...this.log.queued].filter(([, act]) => isForRunning(act));
    if (waiting.length === 0) return undefined;
    const next = this.#takeIn(waiting, state);
    return { state: next };
  }

  /** Takes acts in, in their order. Those that cannot be used are dropped, and whoever acted hears why. */
  #takeIn(acts: readonly (readonly [number, Act])[], from: RunState): RunState {
    let state = from;
    const taken: number[] = [];
    const dropped: { readonly entry: number; readonly error: unknown }[] = [];
    for (const [entry, act] of acts) {
      try {
        state = applied(state, act);
        taken.push(entry);
      } catch (error) {
        dropped.push({ entry, error });
      }
    }
    this.#note({ state, taken, dropped });
    return state;
  }

  #note({
    state,
    taken,
    dropped,
  }: {
    readonly state: RunState;
    readonly taken: readonly number[];
    readonly dropped: readonly { readonly entry: number; readonly error: unknown }[];
  }): void {
    const why = dropped.map(({ entry, error }) => ({ entry, why: error instanceof Error ? error.message : String(error) }));
    const execution = state.execution.number;
    const stored = this.log.append({ ...(taken.length > 0 && { taken, execution }), ...(why.length > 0 && { dropped: why }) }, { state });
    stored.catch((error: unknown) => {
      this.log.journal.shut(error);
    });
    for (const waiter of [...this.#waiters]) {
      if (waiter.entry === undefined) continue;
      if (taken.includes(waiter.entry)) waiter.execution = execution;
      const failed = dropped.find(({ entry }) => entry === waiter.entry);
      if (failed === undefined) continue;
      this.#waiters.delete(waiter);
      waiter.reject(failed.error);
    }
  }

  /** Takes in what came while a run was under way, now that it is at rest. */
  async #takeQueued(): Promise<void> {
    // A step that was begun before is entered again first, as it was.
    if (!this.log.journal.isEmpty) return;
    for (const [entry, act] of [...this.log.queued]) {
      try {
        if (isAnswer(act)) {
          const surroundings = { sessionId: this.id, state: this.log.state, store: this.#host.store, agent: this.#agent() };
          await checkAnswer(act, surroundings, false);
        }
        this.#takeIn([[entry, act]], this.log.state);
      } catch (error) {
        this.#note({ state: this.log.state, taken: [], dropped: [{ entry, error }] });
      }
    }
  }

  #settle(execution: number): void {
    for (const waiter of [...this.#waiters]) {
      if (waiter.execution === undefined || waiter.execution > execution) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(waiter.execution);
    }
  }

  /** Lets go of the session: what is in memory is not what is stored. */
  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#running = undefined;
    this.log.journal.shut(error);
    this.#abort?.abort(error);
    for (const waiter of this.#waiters) waiter.reject(error);
    this.#waiters.clear();
    this.#host.onRest(this, { error });
  }
}
