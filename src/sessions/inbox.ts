// What came to a session while a step of it was open.
// Owns:     when such actions are taken in, in their order, and what becomes of those that cannot be used.
// Does not: store them when they come, or run anything.
// I1. Each action is taken in once, or dropped with a reason; the log says which.
// I2. Nothing is taken in while a step is open: what a model has answered, it answered without it.
import { SteplineError } from '../lib/index.ts';
import type { RunState } from '../step-by-step/index.ts';
import type { ActionRequest } from './action.ts';
import type { AnswerRequest } from './answers.ts';
import { applied, isAnswer } from './answers.ts';
import { hasWork } from './session.ts';
import type { QueuedAction, SessionLog } from './session-log.ts';
import type { Waiters } from './waiters.ts';

/** What the inbox needs of its session. */
interface InboxHost {
  readonly waiters: Waiters;
  /** Rejects an answer that is not good. */
  readonly check: (request: AnswerRequest) => Promise<void>;
  /** The store has failed: what is in memory is not what is stored. */
  readonly onFailure: (error: unknown) => void;
  /** Hears of actions that could not be used, where nobody waits for what comes of them. */
  readonly onProblem: (error: unknown, where: string) => void;
}

interface Dropped {
  readonly entry: number;
  readonly error: unknown;
}

interface Taken {
  readonly state: RunState;
  readonly taken: readonly number[];
  readonly dropped: readonly Dropped[];
}

/** Taken in between two steps; everything else waits for the run to rest. */
const isForRunning = ({ type }: ActionRequest): boolean => type === 'send' || type === 'grant';

/** A step with an answer to work on that waits for others too. */
const isHalfAnswered = (state: RunState): boolean => hasWork(state) && state.pendingStep !== undefined && state.waitingFor.length > 0;

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export class Inbox {
  readonly #log: SessionLog;
  readonly #host: InboxHost;
  /** Entries whose actions nobody waits for. */
  readonly #unheard = new Set<number>();

  constructor(log: SessionLog, host: InboxHost) {
    this.#log = log;
    this.#host = host;
  }

  /** Nobody waits for what comes of this action. */
  unheard(entry: number): void {
    this.#unheard.add(entry);
  }

  /** Why an execution is to end, where somebody has wanted that before it came to run. */
  cancelOf(number: number): string | undefined {
    for (const { action, execution } of this.#log.queued.values())
      if (action.type === 'cancel' && execution === number) return action.reason;
    return undefined;
  }

  /** The state with what can be taken in between two steps; undefined where that is nothing. */
  takeBetween(state: RunState): RunState | undefined {
    // A step that was begun before goes on as it was; what came since follows it.
    if (!this.#log.journal.isEmpty || isHalfAnswered(state)) return undefined;
    const waiting = [...this.#log.queued].filter(([, { action }]) => isForRunning(action));
    return waiting.length === 0 ? undefined : this.#takeIn(waiting, state);
  }

  /** Takes in all that came while a step was open, now that none is. */
  async takeAll(): Promise<void> {
    if (!this.#log.journal.isEmpty) return;
    for (const [entry, queued] of [...this.#log.queued]) {
      const { action } = queued;
      // What was answered is carried out before a message closes the rest of its step.
      if (action.type === 'send' && isHalfAnswered(this.#log.state)) return;
      try {
        if (action.type === 'cancel') {
          this.#takeCancel(entry, queued);
          continue;
        }
        if (isAnswer(action)) await this.#host.check(action);
        this.#takeIn([[entry, queued]], this.#log.state);
      } catch (error) {
        this.#note({ state: this.#log.state, taken: [], dropped: [{ entry, error }] });
      }
    }
  }

  /** What is under way is ended by its run; what has ended by now needs nothing more. */
  #takeCancel(entry: number, { action, execution }: QueuedAction): void {
    const { state } = this.#log;
    const isCurrent = execution === state.execution.number;
    if (isCurrent && hasWork(state)) return;
    const next = isCurrent && state.waitingFor.length > 0 ? applied(state, action) : state;
    this.#note({ state: next, taken: [entry], dropped: [] });
  }

  #takeIn(actions: readonly (readonly [number, QueuedAction])[], from: RunState): RunState {
    let state = from;
    const taken: number[] = [];
    const dropped: Dropped[] = [];
    for (const [entry, { action }] of actions) {
      try {
        state = applied(state, action);
        taken.push(entry);
      } catch (error) {
        dropped.push({ entry, error });
      }
    }
    this.#note({ state, taken, dropped });
    return state;
  }

  #note({ state, taken, dropped }: Taken): void {
    const execution = state.execution.number;
    const why = dropped.map(({ entry, error }) => ({ entry, why: wordsOf(error), ...(SteplineError.is(error) && { code: error.code }) }));
    const body = { ...(taken.length > 0 && { taken, execution }), ...(why.length > 0 && { dropped: why }) };
    // What was told since the last commit is stored with the next one; until then it is as if it had not been told.
    const { lastSeq, owesEvents } = this.#log.state.data;
    const isAhead = state.data.lastSeq !== lastSeq;
    this.#log.append(body, { state: isAhead ? state.evolve({ lastSeq, owesEvents }) : state }).catch((error: unknown) => {
      this.#host.onFailure(error);
    });
    const { waiters, onProblem } = this.#host;
    waiters.taken(taken, execution);
    for (const { entry, error } of dropped) {
      waiters.dropped(entry, error);
      if (this.#unheard.has(entry)) onProblem(error, `an action in session ${this.#log.id}`);
    }
    for (const entry of [...taken, ...dropped.map((each) => each.entry)]) this.#unheard.delete(entry);
  }
}
