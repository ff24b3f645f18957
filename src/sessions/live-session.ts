// A session that is in memory.
// Owns:     the order of what happens to it: acts, the run, what is done at each boundary.
// Does not: store anything itself (the log does), or know other sessions.
// A1. One run at a time. What comes while it lasts is stored at once and taken in at the next boundary, in order.
// A2. An act is stored before anything comes of it; a request that was stored once has no effect again.
// A3. Whoever acted hears how the execution came to rest that took the act in.
// A4. Where the store fails, nothing goes on from memory: the session is let go of, and read again.
import type { BaseEvent } from '../events/index.ts';
import type { Json, JsonObject } from '../lib/index.ts';
import { jsonEquals, SteplineError } from '../lib/index.ts';
import type { Between, Commit, Effects, RunState } from '../step-by-step/index.ts';
import type { Act, ActOptions, Deed } from './act.ts';
import type { Agents } from './agents.ts';
import type { AnswerDeed } from './answers.ts';
import { applied, checkAnswer, isAnswer } from './answers.ts';
import { ActRefusedError } from './act-refused-error.ts';
import { entriesFrom, readBody } from './entry-body.ts';
import { RequestReusedError } from './request-reused-error.ts';
import { RuntimeClosedError } from './runtime-closed-error.ts';
import type { Session, SessionFacts, SessionWait, Turn } from './session.ts';
import { hasWork } from './session.ts';
import type { SessionAgent } from './session-agent.ts';
import { identityOf } from './session-agent.ts';
import type { QueuedAct, SessionLog } from './session-log.ts';
import type { LogEntry, SessionStore } from './session-store.ts';
import { toSession, toTurn } from './views.ts';
import type { Awaited } from './waiters.ts';
import { Waiters } from './waiters.ts';

/** What a session needs of its runtime. */
export interface SessionHost {
  readonly store: SessionStore;
  readonly agents: Agents;
  readonly now: () => number;
  readonly contextOf: (session: SessionFacts) => unknown;
  readonly onEvent?: (event: BaseEvent, session: SessionFacts) => unknown;
  /** When a wait is settled without anybody. */
  readonly expiresAt: (wait: Pick<SessionWait, 'type'>, askedAt: number) => number | undefined;
  /** True where no further step is to begin. */
  readonly isClosing: () => boolean;
  /** The same effects, whose sleeps end when the runtime does. */
  readonly untilClosing: (direct: Effects) => Effects;
  /** More of a session can be read. */
  readonly onStored: (sessionId: string) => void;
  /** A session has come to rest, or cannot be carried on from memory. */
  readonly onRest: (session: LiveSession, failure?: { readonly error: unknown }) => void;
  /** Hears what nobody waits for. */
  readonly onProblem: (error: unknown, where: string) => void;
}

/** An act that is stored. */
interface Begun {
  /** In an object, because a promise of a promise is just the promise. */
  readonly coming: { readonly end: Promise<number> };
  readonly isRepeated: boolean;
}

interface Stored {
  readonly done: Promise<void>;
  readonly about: Awaited;
}

interface Dropped {
  readonly entry: number;
  readonly error: unknown;
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

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export class LiveSession {
  readonly log: SessionLog;
  readonly #host: SessionHost;
  readonly #waiters = new Waiters();
  readonly #requests = new Map<string, { readonly act: Act; readonly coming: Begun['coming'] }>();
  /** Acts of which nobody hears what came of them. */
  readonly #unheard = new Set<number>();
  #acting: Promise<unknown> = Promise.resolve();
  #running: Promise<void> | undefined;
  /** Ends the run that is under way. */
  #abort: AbortController | undefined;
  #gone: Promise<void> | undefined;

  constructor(log: SessionLog, host: SessionHost) {
    this.log = log;
    this.#host = host;
  }

  get id(): string {
    return this.log.id;
  }
  /** True while somebody or something needs it in memory. */
  get isBusy(): boolean {
    return this.#running !== undefined || !this.#waiters.isEmpty;
  }
  /** Set once nothing is carried on from here any more; settles when nothing more of it is written either. */
  get gone(): Promise<void> | undefined {
    return this.#gone;
  }
  /** Settles when nothing is under way. */
  async whenAtRest(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  view(): Promise<Session> {
    return toSession(this.log.facts, this.log.safeState, this.#host);
  }

  /** Does something to the session, and gives what came of it. */
  async perform(deed: Deed, options: ActOptions): Promise<Turn> {
    const { until = 'rest' } = options;
    const { coming, isRepeated } = await this.#exclusively(() => this.#begin(deed, options));
    const execution = until === 'accepted' ? this.log.state.execution.number : await coming.end;
    const turn = await toTurn(this.log.facts, this.log.safeState, { ...this.#host, execution });
    return isRepeated ? { ...turn, isRepeated } : turn;
  }

  /** Goes on with what is left to do; nothing where that is nothing. */
  carryOn(): void {
    if (this.#running === undefined && this.log.isOpen) this.#start();
  }

  /** Settles the approvals whose time has come. */
  async expire(decision: 'approve' | 'reject'): Promise<void> {
    const { waitingFor } = await this.view();
    const by = { id: 'expiry', kind: 'system' };
    for (const { id: waitId, digest, expiresAt = Number.POSITIVE_INFINITY } of waitingFor) {
      if (expiresAt > this.#host.now()) continue;
      const reason = `nobody answered until ${new Date(expiresAt).toISOString()}`;
      const deed: Deed = decision === 'approve' ? { type: 'approve', waitId, digest } : { type: 'reject', waitId, digest, reason };
      await this.perform(deed, { by, until: 'accepted' });
    }
  }

  /** Notes anew when somebody has to look at it. */
  async touch(): Promise<void> {
    await this.#exclusively(() => this.log.append({}));
  }

  /** Nothing more is done or stored from here. */
  letGo(error: unknown): void {
    if (this.#gone !== undefined) return;
    this.log.journal.shut(error);
    this.#abort?.abort(error);
    this.#waiters.fail(error);
    this.#running = undefined;
    // Whoever reads the session again must find all that was written.
    this.#gone = this.log.settled().then(() => {
      this.#host.onRest(this, { error });
    });
  }

  #exclusively<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#acting.then(work);
    this.#acting = done.catch(() => undefined);
    return done;
  }

  /** Stores an act. What comes of it is awaited outside, so that others can act meanwhile. */
  async #begin(deed: Deed, { by, requestId, until }: ActOptions): Promise<Begun> {
    if (this.#gone !== undefined) throw new RuntimeClosedError('the session was just let go of; ask again');
    const repeated = requestId === undefined ? undefined : await this.#repeated(requestId, deed);
    if (repeated !== undefined) return repeated;
    // Refused before anything is stored, where nobody could carry the session on.
    if (deed.type !== 'cancel' || hasWork(this.log.state)) this.#agent();
    if (isAnswer(deed)) await this.#checkAnswer(deed);
    const { done, about } = this.#store({ ...deed, by, at: this.#host.now() }, requestId);
    const coming = { end: this.#waiters.add(about) };
    if (until === 'accepted' && 'entry' in about) this.#unheard.add(about.entry);
    if (requestId !== undefined) this.#remember(requestId, { act: { ...deed, by, at: 0 }, coming });
    try {
      await done;
    } catch (error) {
      this.letGo(error);
      throw error;
    }
    this.#host.onStored(this.id);
    if (this.#running === undefined) this.#start();
    return { coming, isRepeated: false };
  }

  #remember(requestId: string, request: { readonly act: Act; readonly coming: Begun['coming'] }): void {
    this.#requests.set(requestId, request);
    const forget = (): void => {
      this.#requests.delete(requestId);
    };
    request.coming.end.then(forget, forget);
  }

  /** Stores an act: as what it makes of the state, or, where a step is open, to be taken in behind that. */
  #store(act: Act, requestId: string | undefined): Stored {
    const { state, journal } = this.log;
    const execution = state.execution.number;
    // A step that was begun goes on as it was, whether or not it is under way at the moment.
    const isOpenStep = this.#running !== undefined || !journal.isEmpty;
    if (act.type === 'resume') return { done: this.log.append({ act, execution }, { requestId }), about: { execution } };
    const isForRun = act.type === 'cancel' && hasWork(state);
    if (isOpenStep || isForRun) {
      const done = this.log.append({ act, isQueued: true, execution }, { requestId });
      if (act.type === 'cancel') this.#abort?.abort(act.reason);
      return { done, about: act.type === 'cancel' ? { execution } : { entry: this.log.head } };
    }
    // What has ended needs no ending; that somebody wanted it is kept.
    const next = act.type === 'cancel' && state.waitingFor.length === 0 ? state : applied(state, act);
    const number = next.execution.number;
    return { done: this.log.append({ act, execution: number }, { state: next, requestId }), about: { execution: number } };
  }

  #checkAnswer(deed: AnswerDeed, isRunning = this.#running !== undefined || !this.log.journal.isEmpty): Promise<void> {
    const { store } = this.#host;
    const { state, queued } = this.log;
    return checkAnswer(deed, { sessionId: this.id, state, store, queued, agent: this.#agent() }, isRunning);
  }

  /** What came of a request that was made before; undefined where it was not. */
  async #repeated(requestId: string, deed: Deed): Promise<Begun | undefined> {
    const open = this.#requests.get(requestId);
    const entry = open === undefined ? await this.#host.store.findRequest(this.id, requestId) : undefined;
    const act = open?.act ?? (entry === undefined ? undefined : readBody(entry.body).act);
    if (act === undefined) return undefined;
    // An entry that this runtime knows nothing of was written by another: the store says who may answer.
    if (entry !== undefined && entry.n > this.log.head) await this.#confirm();
    if (!jsonEquals(contentOf(act), contentOf(deed))) throw new RequestReusedError(requestId);
    if (open !== undefined) return { coming: open.coming, isRepeated: true };
    // Holds: where it is not open in memory it was found in the store.
    return { coming: await this.#comingOf(entry as LogEntry), isRepeated: true };
  }

  async #confirm(): Promise<void> {
    try {
      await this.log.confirm();
    } catch (error) {
      this.letGo(error);
      throw error;
    }
  }

  /** The end of the execution that took in, or will take in, the act of a stored entry. */
  async #comingOf({ n, body }: LogEntry): Promise<Begun['coming']> {
    // Whoever asks again wants it to go on.
    this.carryOn();
    const { isQueued, execution, act } = readBody(body);
    if (isQueued !== true || act?.type === 'cancel') return this.#endOf(execution);
    if (this.log.queued.has(n)) return { end: this.#waiters.add({ entry: n }) };
    const later = (await entriesFrom(this.#host.store, this.id, n + 1)).map((entry) => readBody(entry.body));
    const refused = later.flatMap(({ dropped = [] }) => dropped).find(({ entry }) => entry === n);
    if (refused !== undefined) throw new ActRefusedError(refused.why, refused.code);
    return this.#endOf(later.find(({ taken }) => taken?.includes(n) === true)?.execution);
  }

  #endOf(execution = this.log.state.execution.number): Begun['coming'] {
    const isUnderWay = this.#running !== undefined && execution === this.log.state.execution.number;
    return { end: isUnderWay ? this.#waiters.add({ execution }) : Promise.resolve(execution) };
  }

  #agent(): SessionAgent {
    return this.#host.agents.successorOf(this.log.facts.agent);
  }

  #start(): void {
    this.#running = this.#carryOn().catch((error: unknown) => {
      this.letGo(error);
    });
  }

  async #carryOn(): Promise<void> {
    for (;;) {
      await this.#takeQueued();
      const { state, head } = this.log;
      // What ended before the current execution has come to rest for good.
      this.#waiters.settle(state.execution.number - 1);
      if (this.#host.isClosing()) break;
      if (hasWork(state) || this.#canTellOwed(state)) await this.#run(state);
      else if (this.log.queued.size > 0 && this.log.journal.isEmpty) continue;
      // Left at a boundary, or nothing to do.
      if (this.log.head === head) break;
    }
    // From here on nothing is awaited until the session is at rest: what comes now finds it so.
    this.#running = undefined;
    const isLeft = this.#host.isClosing() && hasWork(this.log.state);
    this.#waiters.settle(this.log.state.execution.number - (isLeft ? 1 : 0));
    if (this.#host.isClosing()) return;
    await this.log.rest();
    this.#host.onRest(this);
  }

  /** What is owed about an end waits for an agent that can tell it. */
  #canTellOwed({ data }: RunState): boolean {
    if (data.owesEvents !== true) return false;
    try {
      this.#agent();
      return true;
    } catch {
      return false;
    }
  }

  async #run(state: RunState): Promise<void> {
    const agent = this.#agent();
    const identity = identityOf(agent);
    const { facts } = this.log;
    if (!jsonEquals({ ...identity }, { ...facts.agent })) this.log.facts = { ...facts, agent: identity };
    const context = await this.#host.contextOf(this.log.facts);
    const { onEvent } = this.#host;
    const abort = new AbortController();
    // Somebody has ended it before it came to run, in this process or in one before.
    for (const { act, execution } of this.log.queued.values())
      if (act.type === 'cancel' && execution === state.execution.number) abort.abort(act.reason);
    this.#abort = abort;
    try {
      await agent.run(state, {
        context,
        signal: abort.signal,
        ...(onEvent !== undefined && { onEvent: (event: BaseEvent) => onEvent(event, this.log.facts) }),
        executionId: `${this.id}/${state.execution.number}`,
        effects: (direct) => this.log.journal.wrap(this.#host.untilClosing(direct), `${state.execution.number}/`),
        commit: (commit: Commit<RunState>) => this.#commit(commit),
        between: (current: RunState) => this.#between(current),
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
    const waiting = [...this.log.queued].filter(([, { act }]) => isForRunning(act));
    return waiting.length === 0 ? undefined : { state: this.#takeIn(waiting, state) };
  }

  /** Takes acts in, in their order. Those that cannot be used are dropped, and whoever acted hears why. */
  #takeIn(acts: readonly (readonly [number, QueuedAct])[], from: RunState): RunState {
    let state = from;
    const taken: number[] = [];
    const dropped: Dropped[] = [];
    for (const [entry, { act }] of acts) {
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
    readonly dropped: readonly Dropped[];
  }): void {
    const execution = state.execution.number;
    const why = dropped.map(({ entry, error }) => ({ entry, why: wordsOf(error), ...(SteplineError.is(error) && { code: error.code }) }));
    const body = { ...(taken.length > 0 && { taken, execution }), ...(why.length > 0 && { dropped: why }) };
    // What was told since the last commit is stored with the next one; until then it is as if it had not been told.
    const { lastSeq, owesEvents } = this.log.state.data;
    const isAhead = state.data.lastSeq !== lastSeq;
    this.log.append(body, { state: isAhead ? state.evolve({ lastSeq, owesEvents }) : state }).catch((error: unknown) => {
      this.log.journal.shut(error);
    });
    this.#waiters.taken(taken, execution);
    for (const { entry, error } of dropped) {
      this.#waiters.dropped(entry, error);
      if (this.#unheard.has(entry)) this.#host.onProblem(error, `an act in session ${this.id}`);
    }
    for (const entry of [...taken, ...dropped.map((each) => each.entry)]) this.#unheard.delete(entry);
  }

  /** Takes in what came while a step was open, now that none is. */
  async #takeQueued(): Promise<void> {
    if (!this.log.journal.isEmpty) return;
    for (const [entry, queued] of [...this.log.queued]) {
      const { act } = queued;
      try {
        if (act.type === 'cancel') {
          this.#takeCancel(entry, queued);
          continue;
        }
        if (isAnswer(act)) await this.#checkAnswer(act, false);
        this.#takeIn([[entry, queued]], this.log.state);
      } catch (error) {
        this.#note({ state: this.log.state, taken: [], dropped: [{ entry, error }] });
      }
    }
  }

  /** What is under way is ended by its run; what has ended by now needs nothing more. */
  #takeCancel(entry: number, { act, execution }: QueuedAct): void {
    const { state } = this.log;
    const isCurrent = execution === state.execution.number;
    if (isCurrent && hasWork(state)) return;
    const next = isCurrent && state.waitingFor.length > 0 ? applied(state, act) : state;
    this.#note({ state: next, taken: [entry], dropped: [] });
  }
}
