// Actions that came while a step of the session was open.
// Owns:     when such actions are applied, in their order, and the refusal of those that cannot be.
// Does not: store them when they come, or run anything.
// I1. Each action is applied once, or refused with a reason; the log says which.
// I2. Nothing is applied while a step is open: what a model has answered, it answered without it.
import { SteplineError } from '../lib/index.ts';
import type { RunState } from '../step-by-step/index.ts';
import type { ActionRequest } from './action.ts';
import type { AnswerRequest } from './answers.ts';
import { applyRequest, isAnswer } from './answers.ts';
import { hasWork } from './session.ts';
import type { QueuedAction, SessionLog } from './session-log.ts';
import type { Waiters } from './waiters.ts';

/** Services that the session provides to its inbox. */
interface InboxHost {
  readonly waiters: Waiters;
  /** Rejects an answer that is not good. */
  readonly check: (request: AnswerRequest) => Promise<void>;
  /** The store has failed: what is in memory is not what is stored. */
  readonly onFailure: (error: unknown) => void;
  /** Hears of actions that could not be used, where nobody waits for what comes of them. */
  readonly onProblem: (error: unknown, where: string) => void;
}

interface RefusedAction {
  readonly entry: number;
  readonly error: unknown;
}

interface Applied {
  readonly state: RunState;
  readonly applied: readonly number[];
  readonly refused: readonly RefusedAction[];
}

/** Applied between two steps; everything else waits until the run ends. */
const isForRunning = ({ type }: ActionRequest): boolean => type === 'send' || type === 'grant';

/** A step with an answer to work on that waits for others too. */
const isHalfAnswered = (state: RunState): boolean => hasWork(state) && state.pendingStep !== undefined && state.waitingFor.length > 0;

const toText = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export class Inbox {
  readonly #log: SessionLog;
  readonly #host: InboxHost;
  /** Entries whose actions nobody waits for. */
  readonly #ignored = new Set<number>();

  constructor(log: SessionLog, host: InboxHost) {
    this.#log = log;
    this.#host = host;
  }

  /** Nobody waits for what comes of this action. */
  ignoreResult(entry: number): void {
    this.#ignored.add(entry);
  }

  /** Why an execution is to end, where somebody has wanted that before it came to run. */
  findCancel(number: number): string | undefined {
    for (const { action, execution } of this.#log.queued.values())
      if (action.type === 'cancel' && execution === number) return action.reason;
    return undefined;
  }

  /** Applies what can be applied between two steps; returns undefined if there is nothing. */
  applyBetween(state: RunState): RunState | undefined {
    // A step that was begun before goes on as it was; what came since follows it.
    if (!this.#log.journal.isEmpty || isHalfAnswered(state)) return undefined;
    const waiting = [...this.#log.queued].filter(([, { action }]) => isForRunning(action));
    return waiting.length === 0 ? undefined : this.#apply(waiting, state);
  }

  /** Applies all that came while a step was open, now that none is. */
  async applyAll(): Promise<void> {
    if (!this.#log.journal.isEmpty) return;
    for (const [entry, queued] of [...this.#log.queued]) {
      const { action } = queued;
      // What was answered is carried out before a message closes the rest of its step.
      if (action.type === 'send' && isHalfAnswered(this.#log.state)) return;
      try {
        if (action.type === 'cancel') {
          this.#applyCancel(entry, queued);
          continue;
        }
        if (isAnswer(action)) await this.#host.check(action);
        this.#apply([[entry, queued]], this.#log.state);
      } catch (error) {
        this.#note({ state: this.#log.state, applied: [], refused: [{ entry, error }] });
      }
    }
  }

  /** What is under way is ended by its run; what has ended by now needs nothing more. */
  #applyCancel(entry: number, { action, execution }: QueuedAction): void {
    const { state } = this.#log;
    const isCurrent = execution === state.execution.number;
    if (isCurrent && hasWork(state)) return;
    const next = isCurrent && state.waitingFor.length > 0 ? applyRequest(state, action) : state;
    this.#note({ state: next, applied: [entry], refused: [] });
  }

  #apply(actions: readonly (readonly [number, QueuedAction])[], from: RunState): RunState {
    let state = from;
    const applied: number[] = [];
    const refused: RefusedAction[] = [];
    for (const [entry, { action }] of actions) {
      try {
        state = applyRequest(state, action);
        applied.push(entry);
      } catch (error) {
        refused.push({ entry, error });
      }
    }
    this.#note({ state, applied, refused });
    return state;
  }

  #note({ state, applied, refused }: Applied): void {
    const execution = state.execution.number;
    const why = refused.map(({ entry, error }) => ({ entry, why: toText(error), ...(SteplineError.is(error) && { code: error.code }) }));
    const body = { ...(applied.length > 0 && { applied, execution }), ...(why.length > 0 && { refused: why }) };
    // What was told since the last commit is stored with the next one; until then it is as if it had not been told.
    const { lastSeq, owesEvents } = this.#log.state.data;
    const isAhead = state.data.lastSeq !== lastSeq;
    this.#log.append(body, { state: isAhead ? state.evolve({ lastSeq, owesEvents }) : state }).catch((error: unknown) => {
      this.#host.onFailure(error);
    });
    const { waiters, onProblem } = this.#host;
    waiters.taken(applied, execution);
    for (const { entry, error } of refused) {
      waiters.dropped(entry, error);
      if (this.#ignored.has(entry)) onProblem(error, `an action in session ${this.#log.id}`);
    }
    for (const entry of [...applied, ...refused.map((each) => each.entry)]) this.#ignored.delete(entry);
  }
}
