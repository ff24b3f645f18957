import type { BaseEvent, EventHeader } from '../../events/index.ts';
import type { Clock, IdSource } from '../../lib/index.ts';
import type { Effects } from '../effects.ts';
import { AgentStepStarted } from '../loop-events.ts';
import type { EventSubject, RunScope } from '../run-scope.ts';
import type { RunState } from '../run-state.ts';
import type { Interruption } from '../step.ts';
import type { StepProcess, StepScope } from '../step-process.ts';
import { StepTimer } from '../step-timer.ts';

/** What a step may use, until the step is over: a producer that was abandoned tells no more events. */
interface ClosableScope<Context> extends StepScope<Context> {
  close(): void;
}

/** A step that is being taken, and all that it is taken with. */
export interface OpenStep<State extends RunState, Context> {
  readonly process: StepProcess<State, Context>;
  readonly run: RunScope<State, Context>;
  /** The state before the step. */
  readonly state: State;
  readonly number: number;
  readonly timer: StepTimer;
  readonly subject: EventSubject;
  readonly scope: ClosableScope<Context>;
  /** True where this step is to sum up after a limit. */
  readonly finalizing: boolean;
}

/** Who the events of a step are about. */
export function subjectOf(state: RunState, executionId: string, stepNumber: number): EventSubject {
  return { agentId: state.agentId, parentAgentId: state.parentAgentId, executionId, stepNumber };
}

/** Starts the step's clocks and tells that it began. A step that waited for somebody is entered again, not begun. */
export function openStep<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  state: State,
  run: RunScope<State, Context>,
): OpenStep<State, Context> {
  const { pendingStep, results, id: executionId = '' } = state.execution;
  const number = pendingStep?.number ?? results.length + 1;
  const timer = new StepTimer(run.clock);
  const subject = subjectOf(state, executionId, number);
  if (pendingStep === undefined) {
    run.tell(new AgentStepStarted(run.header(subject, timer.startedAt), process.name, state.messages.length));
  }
  const finalizing = state.execution.regranted !== true && results.last?.outcome.isFinalizing === true;
  return { process, run, state, number, timer, subject, finalizing, scope: new OpenStepScope(run, subject, { timer, finalizing }) };
}

/** A class, because one is made for every step and most of it is seldom asked for. */
class OpenStepScope<State, Context> implements ClosableScope<Context> {
  readonly #run: RunScope<State, Context>;
  readonly #subject: EventSubject;
  readonly #timer: StepTimer;
  #effects: Effects | undefined;
  #isOver = false;
  #cutOff: { readonly interruption: Interruption; readonly signal: AbortSignal } | undefined;
  readonly finalizing: boolean;

  constructor(
    run: RunScope<State, Context>,
    subject: EventSubject,
    { timer, finalizing }: { readonly timer: StepTimer; readonly finalizing: boolean },
  ) {
    this.#run = run;
    this.#subject = subject;
    this.#timer = timer;
    this.finalizing = finalizing;
  }

  get executionId(): string {
    return this.#subject.executionId;
  }
  get stepNumber(): number {
    return this.#subject.stepNumber;
  }
  get context(): Context {
    return this.#run.context;
  }
  get signal(): AbortSignal {
    return this.#cutOff?.signal ?? this.#run.control.signal;
  }
  get interruption(): Interruption | undefined {
    return this.#cutOff?.interruption ?? this.#run.control.interruption;
  }
  get ending(): Interruption | undefined {
    return this.#cutOff?.interruption ?? this.#run.control.ending;
  }
  get effects(): Effects {
    return (this.#effects ??= this.#timer.watch(this.#run.effects, () => this.#isOver));
  }
  get clock(): Clock {
    return this.#run.clock;
  }
  get ids(): IdSource {
    return this.#run.ids;
  }

  beginWaiting(): () => void {
    return this.#timer.beginWaiting();
  }

  emit(make: (header: EventHeader) => BaseEvent, { numbered = true }: { readonly numbered?: boolean } = {}): void {
    if (this.#isOver) return;
    if (numbered) this.#run.tellNew(this.#subject, make);
    else this.#run.tellPiece(make(this.#run.pieceHeader(this.#subject)));
  }

  close(): void {
    this.#isOver = true;
    const { interruption, signal } = this.#run.control;
    // Another step may begin after a deadline; the work that was left behind stays cut off.
    if (interruption !== undefined) this.#cutOff = { interruption, signal };
  }
}
