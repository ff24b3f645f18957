import type { Effects } from '../../effects/index.ts';
import { withKeyPrefix } from '../../effects/index.ts';
import type { BaseEvent, EventHeader } from '../../events/index.ts';
import type { PriceOf } from '../../inference/index.ts';
import type { Clock, IdSource, JsonObject } from '../../lib/index.ts';
import { Usage } from '../../messages/index.ts';
import type { ContinuationEvaluation } from '../../continuation/index.ts';
import { AgentStepStarted } from '../loop-events.ts';
import type { EventSubject, RunScope } from '../run-scope.ts';
import type { RunState } from '../run-state.ts';
import type { Interruption } from '../step.ts';
import { addCost } from '../step.ts';
import type { NestOptions, OuterStep, Spent } from '../outer-step.ts';
import type { StepProcess, StepScope } from '../step-process.ts';
import type { StepNote } from '../step-notes.ts';
import { StepNotes } from '../step-notes.ts';
import { StepTimer } from '../step-timer.ts';
import { toOuterEvaluation, outerLimitVotes } from './outer-limits.ts';

/** What a step may use, until the step is over: a producer that was abandoned tells no more events. */
export interface ClosableScope<Context> extends StepScope<Context> {
  /** What was noted beside the step; undefined where nothing was. */
  readonly notes: StepNotes | undefined;
  /** What the run around this one knows already of what was spent in this step. */
  readonly passedOn: Spent;
  /** Tells that the step began, where nobody has said whose turn it is. */
  ensureBegun(): void;
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

const nothing: Spent = { usage: Usage.none() };

/** Who the events of a step are about. */
// eslint-disable-next-line @typescript-eslint/max-params -- one is made for every step; a fourth argument costs less than a bag
export function subjectOf(state: RunState, executionId: string, stepNumber: number, participant?: string): EventSubject {
  return { agentId: state.agentId, parentAgentId: state.parentAgentId, executionId, stepNumber, participant };
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
  const subject = subjectOf(state, executionId, number, pendingStep?.partial.participant);
  const isTold = pendingStep !== undefined || process.takesTurns !== true;
  if (pendingStep === undefined && isTold) {
    run.tell(new AgentStepStarted(run.header(subject, timer.startedAt), process.name, state.messages.length));
  }
  const finalizing = state.execution.regranted !== true && results.last?.outcome.isFinalizing === true;
  const scope = new OpenStepScope(process, state, { run, subject, timer, finalizing, isTold });
  return { process, run, state, number, timer, subject, finalizing, scope };
}

/** What may be used before the first step: the same as in a step, under the number 0. */
export function openStart<State extends RunState, Context>(
  process: StepProcess<State, Context>,
  state: State,
  { run, subject }: { readonly run: RunScope<State, Context>; readonly subject: EventSubject },
): ClosableScope<Context> {
  return new OpenStepScope(process, state, { run, subject, timer: new StepTimer(run.clock), finalizing: false, isTold: true });
}

interface Surroundings<State, Context> {
  readonly run: RunScope<State, Context>;
  readonly subject: EventSubject;
  readonly timer: StepTimer;
  readonly finalizing: boolean;
  /** Whether it was told that the step began. */
  readonly isTold: boolean;
}

/** A class, because one is made for every step and most of it is seldom asked for. */
class OpenStepScope<State extends RunState, Context> implements ClosableScope<Context> {
  readonly #process: StepProcess<State, Context>;
  readonly #state: State;
  readonly #run: RunScope<State, Context>;
  readonly #subject: { -readonly [Key in keyof EventSubject]: EventSubject[Key] };
  readonly #timer: StepTimer;
  #effects: Effects | undefined;
  #isOver = false;
  #hasToldOwn = false;
  #isTold: boolean;
  #cutOff: { readonly interruption: Interruption; readonly signal: AbortSignal } | undefined;
  readonly finalizing: boolean;

  notes: StepNotes | undefined;
  passedOn: Spent = nothing;

  constructor(
    process: StepProcess<State, Context>,
    state: State,
    { run, subject, timer, finalizing, isTold }: Surroundings<State, Context>,
  ) {
    this.#process = process;
    this.#state = state;
    this.#run = run;
    this.#subject = subject;
    this.#timer = timer;
    this.finalizing = finalizing;
    this.#isTold = isTold;
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
  get path(): string {
    return this.#run.inside?.path ?? '';
  }
  get watchesCost(): boolean {
    return this.#run.inside?.watchesCost === true;
  }
  get price(): PriceOf | undefined {
    return this.#run.inside?.price;
  }
  get clock(): Clock {
    return this.#run.clock;
  }
  get ids(): IdSource {
    return this.#run.ids;
  }

  get forbidding(): ContinuationEvaluation | undefined {
    return this.notes?.forbidding;
  }

  note(note: StepNote): void {
    if (this.#isOver) return;
    (this.notes ??= new StepNotes()).add(note);
    if (note.usage !== undefined || note.cost !== undefined) this.#passOn({ usage: note.usage ?? Usage.none(), cost: note.cost });
  }

  // At every depth at once, or two branches would not know of each other.
  #passOn({ usage, cost }: Spent): void {
    const { inside } = this.#run;
    if (inside === undefined) return;
    inside.spend({ usage, cost });
    this.passedOn = { usage: Usage.add(this.passedOn.usage, usage), cost: addCost(this.passedOn.cost, cost) };
  }

  beginWaiting(options: { readonly forPerson?: boolean } = {}): () => void {
    const { inside } = this.#run;
    const leave = options.forPerson === true ? this.#timer.beginPerson() : this.#timer.beginWaiting();
    if (inside === undefined) return leave;
    const leaveOutside = inside.beginWaiting(options);
    return () => {
      leave();
      leaveOutside();
    };
  }

  beginTurn(participant: string): void {
    if (this.#isOver) return;
    this.#subject.participant = participant;
    this.ensureBegun();
  }

  ensureBegun(): void {
    if (this.#isTold) return;
    this.#isTold = true;
    this.#run.tell(new AgentStepStarted(this.#run.header(this.#subject), this.#process.name, this.#state.messages.length));
  }

  noted(metadata: JsonObject): JsonObject {
    return this.notes?.over(metadata) ?? metadata;
  }

  nest(key: string, { own, ids, path = '', watchesCost = false, price }: NestOptions): OuterStep {
    const run = this.#run;
    const subject = this.#subject;
    const isOpen = (): boolean => !this.#isOver;
    if (!this.#hasToldOwn) this.#passOn(own);
    this.#hasToldOwn = true;
    return {
      agentId: subject.agentId,
      executionId: subject.executionId,
      watchesCost: watchesCost || this.watchesCost,
      price,
      path: `${this.path}${path}`,
      participant: subject.participant ?? run.inside?.participant,
      sinks: run.sinks,
      ...(ids !== undefined && { ids }),
      depth: (run.inside?.depth ?? 0) + 1,
      get isOpen() {
        return isOpen();
      },
      effects: withKeyPrefix(this.effects, key),
      control: run.control,
      get lastSeq() {
        return run.lastSeq;
      },
      nextSeq: () => run.nextSeq(),
      dropSeq: () => run.dropSeq(),
      tell: (event) => run.tell(event),
      tellPiece: (event) => run.tellPiece(event),
      spend: ({ usage, cost }) => {
        this.note({ usage, cost });
      },
      beginWaiting: (options) => this.beginWaiting(options),
      limitVotes: (more) => [
        ...(this.forbidding === undefined ? [] : [toOuterEvaluation(this.forbidding)]),
        ...outerLimitVotes(this.#process, this.#state, {
          run,
          activeMs: this.#timer.activeMs(),
          personMs: this.#timer.personMs(),
          spent: [own, this.notes, more],
          passedOn: this.passedOn,
        }),
      ],
    };
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
