// A session that is in memory.
// Owns:     the order of what happens to it: actions, the run, what is done at each boundary.
// Does not: store anything itself (the log does), or know other sessions.
// A1. One run at a time. What comes while it lasts is stored at once and taken in at the next boundary, in order.
// A2. An action is stored before anything comes of it; a request that was stored once has no effect again.
// A3. Whoever acted hears how the execution came to rest that took the action in.
// A4. Where the store fails, nothing goes on from memory: the session is let go of, and read again.
import type { Effects } from '../effects/index.ts';
import type { BaseEvent } from '../events/index.ts';
import { jsonEquals } from '../lib/index.ts';
import type { Between, Commit, Orchestrator, RunResult, RunState } from '../step-by-step/index.ts';
import { toRunResult } from '../step-by-step/index.ts';
import type { Action, ActionOptions, ActionRequest } from './action.ts';
import type { Agents } from './agents.ts';
import { toIdentity } from './agents.ts';
import type { AnswerRequest } from './answers.ts';
import { applyRequest, checkAnswer, isAnswer } from './answers.ts';
import { Inbox } from './inbox.ts';
import type { PendingResult } from './requests.ts';
import { toPendingResult, Requests } from './requests.ts';
import { RuntimeClosedError } from './runtime-closed-error.ts';
import type { Session, SessionFacts, SessionResult, SessionWait } from './session.ts';
import { hasWork } from './session.ts';
import type { SessionLog } from './session-log.ts';
import type { SessionStore } from './session-store.ts';
import { toSession, toSessionResult } from './views.ts';
import type { WaitTarget } from './waiters.ts';
import { Waiters } from './waiters.ts';

/** Services the runtime provides to a session. */
export interface SessionHost {
  readonly store: SessionStore;
  readonly agents: Agents;
  readonly now: () => number;
  readonly contextOf: (session: SessionFacts) => unknown;
  readonly onEvent?: (event: BaseEvent, session: SessionFacts) => unknown;
  /** When a wait is settled without anybody. */
  readonly expiresAt: (wait: Pick<SessionWait, 'type'>, askedAt: number) => number | undefined;
  /** True if no further step may start. */
  readonly isClosing: () => boolean;
  /** Why that is so. */
  readonly whyClosed: () => string | undefined;
  /** The same effects, whose sleeps end when the runtime does. */
  readonly untilClosing: (direct: Effects) => Effects;
  /** More of a session can be read. */
  readonly onStored: (sessionId: string) => void;
  /** A session has come to rest, or cannot be carried on from memory. */
  readonly onRest: (session: LiveSession, failure?: { readonly error: unknown }) => void;
  /** Hears what nobody waits for. */
  readonly onProblem: (error: unknown, where: string) => void;
}

/** An action that is stored. */
interface AcceptedAction {
  readonly coming: PendingResult;
  readonly isRepeated: boolean;
}

interface Stored {
  readonly done: Promise<void>;
  readonly about: WaitTarget;
}

export class LiveSession {
  readonly log: SessionLog;
  readonly #host: SessionHost;
  readonly #waiters = new Waiters();
  readonly #requests: Requests;
  readonly #inbox: Inbox;
  #acting: Promise<unknown> = Promise.resolve();
  #running: Promise<void> | undefined;
  /** Ends the run that is under way. */
  #abort: AbortController | undefined;
  #gone: Promise<void> | undefined;

  constructor(log: SessionLog, host: SessionHost) {
    this.log = log;
    this.#host = host;
    this.#inbox = new Inbox(log, {
      waiters: this.#waiters,
      check: (request) => this.#checkAnswer(request, false),
      onFailure: (error) => {
        this.letGo(error);
      },
      onProblem: host.onProblem,
    });
    this.#requests = new Requests(log, {
      store: host.store,
      carryOn: () => {
        this.carryOn();
      },
      coming: (about) => this.#coming(about),
      confirm: () => this.#orLetGo(log.confirm()),
    });
  }

  get id(): string {
    return this.log.id;
  }
  /** True while somebody or something needs it in memory. */
  get isBusy(): boolean {
    return this.#running !== undefined || !this.#waiters.isEmpty || this.log.isWriting;
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
  async perform(request: ActionRequest, options: ActionOptions): Promise<SessionResult> {
    const { until = 'rest' } = options;
    const { coming, isRepeated } = await this.#exclusively(() => this.#begin(request, options));
    const execution = until === 'accepted' ? (coming.execution ?? this.log.state.execution.number) : await coming.end;
    return toSessionResult(this.log.facts, this.log.safeState, {
      execution,
      isRepeated,
      expiresAt: this.#host.expiresAt,
      toResult: (state) => this.#toResult(state),
    });
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
      const request: ActionRequest =
        decision === 'approve' ? { type: 'approve', waitId, digest } : { type: 'reject', waitId, digest, reason };
      await this.perform(request, { by, until: 'accepted' });
    }
  }

  /** Notes anew when somebody has to look at it. */
  async touch(): Promise<void> {
    await this.#exclusively(() => this.#orLetGo(this.log.append({})));
  }

  /** Nothing more is done or stored from here. */
  letGo(error: unknown): void {
    if (this.#gone !== undefined) return;
    this.log.journal.shut(error);
    this.#abort?.abort(error);
    this.#waiters.fail(error);
    this.#running = undefined;
    // Whoever reads the session again must find all that was written.
    this.#gone = this.log.whenWritten().then(() => {
      this.#host.onRest(this, { error });
    });
  }

  #exclusively<Value>(work: () => Promise<Value>): Promise<Value> {
    const done = this.#acting.then(work);
    this.#acting = done.catch(() => undefined);
    return done;
  }

  /** Stores an action. What comes of it is awaited outside, so that others can act meanwhile. */
  async #begin(request: ActionRequest, { by, requestId, until }: ActionOptions): Promise<AcceptedAction> {
    this.#refuseGone();
    const repeated = requestId === undefined ? undefined : await this.#requests.find(requestId, request);
    this.#refuseGone();
    if (repeated !== undefined) return { coming: repeated, isRepeated: true };
    // Refused before anything is stored, where nobody could carry the session on.
    if (request.type !== 'cancel' || hasWork(this.log.state)) this.#agent();
    if (isAnswer(request)) await this.#checkAnswer(request);
    // Asked again behind everything that was awaited: whoever is let in from here on is heard by letGo().
    this.#refuseGone();
    const { done, about } = this.#store({ ...request, by, at: this.#host.now() }, requestId);
    const coming = toPendingResult(about, this.#waiters.add(about));
    if (until === 'accepted' && 'entry' in about) this.#inbox.ignoreResult(about.entry);
    if (requestId !== undefined) this.#requests.add(requestId, request, coming);
    await this.#orLetGo(done);
    this.#host.onStored(this.id);
    if (this.#running === undefined) this.#start();
    return { coming, isRepeated: false };
  }

  #refuseGone(): void {
    if (this.#gone !== undefined) throw new RuntimeClosedError('the session was just let go of; ask again');
    const why = this.#host.whyClosed();
    if (why !== undefined) throw new RuntimeClosedError(why);
  }

  async #orLetGo(writing: Promise<void>): Promise<void> {
    try {
      await writing;
    } catch (error) {
      this.letGo(error);
      throw error;
    }
  }

  /** Stores an action: as what it makes of the state, or, where a step is open, to be taken in behind that. */
  #store(action: Action, requestId: string | undefined): Stored {
    const { state, journal } = this.log;
    const execution = state.execution.number;
    // A step that was begun goes on as it was, whether or not it is under way at the moment.
    const isOpenStep = this.#running !== undefined || !journal.isEmpty;
    if (action.type === 'resume') return { done: this.log.append({ action, execution }, { requestId }), about: { execution } };
    const isForRun = action.type === 'cancel' && hasWork(state);
    if (isOpenStep || isForRun) {
      const done = this.log.append({ action, isQueued: true, execution }, { requestId });
      if (action.type === 'cancel') this.#abort?.abort(action.reason);
      return { done, about: action.type === 'cancel' ? { execution } : { entry: this.log.head } };
    }
    // What has ended needs no ending; that somebody wanted it is kept.
    const next = action.type === 'cancel' && state.waitingFor.length === 0 ? state : applyRequest(state, action);
    const number = next.execution.number;
    return { done: this.log.append({ action, execution: number }, { state: next, requestId }), about: { execution: number } };
  }

  #checkAnswer(request: AnswerRequest, isRunning = this.#running !== undefined || !this.log.journal.isEmpty): Promise<void> {
    const { store } = this.#host;
    const { state, queued } = this.log;
    return checkAnswer(request, { sessionId: this.id, state, store, queued, agent: this.#agent() }, isRunning);
  }

  #coming(about: WaitTarget): Promise<number> {
    const isPast = 'execution' in about && (this.#running === undefined || about.execution < this.log.state.execution.number);
    return isPast ? Promise.resolve(about.execution) : this.#waiters.add(about);
  }

  #agent(): Orchestrator {
    return this.#host.agents.findSuccessor(this.log.facts.agent);
  }

  #findAgent(): Orchestrator | undefined {
    try {
      return this.#agent();
    } catch {
      return undefined;
    }
  }

  /** Without its agent, a session can still be cancelled; the result then has no output. */
  #toResult(state: RunState): Promise<RunResult> {
    return this.#findAgent()?.toResult(state) ?? toRunResult(state, async () => ({ ok: true, output: undefined }));
  }

  #start(): void {
    this.#running = this.#carryOn().catch((error: unknown) => {
      this.letGo(error);
    });
  }

  async #carryOn(): Promise<void> {
    for (;;) {
      await this.#inbox.applyAll();
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
    return data.owesEvents === true && this.#findAgent() !== undefined;
  }

  async #run(state: RunState): Promise<void> {
    const agent = this.#agent();
    const identity = toIdentity(agent);
    const { facts } = this.log;
    if (!jsonEquals({ ...identity }, { ...facts.agent })) this.log.facts = { ...facts, agent: identity };
    const onlyEnds = this.log.journal.isEmpty && this.#inbox.findCancel(state.execution.number) !== undefined;
    // Nothing is done with it in a run that only ends; then it need not be had either.
    const context = onlyEnds ? {} : await this.#host.contextOf(this.log.facts);
    const { onEvent } = this.#host;
    const abort = new AbortController();
    // Somebody may have ended it before it came to run, in this process or in one before.
    const cancel = this.#inbox.findCancel(state.execution.number);
    // A step that was begun before is told as far as it came: it ends where something new would begin.
    const end = (): void => {
      if (cancel !== undefined) abort.abort(cancel);
    };
    if (this.log.journal.isEmpty) end();
    this.#abort = abort;
    try {
      await agent.run(state, {
        context,
        signal: abort.signal,
        onEvent: onEvent && ((event) => onEvent(event, this.log.facts)),
        executionId: `${this.id}/${state.execution.number}`,
        effects: (direct) => this.log.journal.wrap(this.#host.untilClosing(direct), `${state.execution.number}/`, end),
        commit: (commit) => this.#commit(commit).then(end),
        between: (current) => this.#between(current),
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
    const next = this.#inbox.applyBetween(state);
    return next === undefined ? undefined : { state: next };
  }
}
