import type { ContinuationEvaluation } from '../../continuation/index.ts';
import type { Effects } from '../../effects/index.ts';
import { withKeyPrefix } from '../../effects/index.ts';
import type { BaseEvent, EventHeader, ProblemReporter } from '../../events/index.ts';
import type { Failure } from '../../errors/index.ts';
import type { CoolDowns, ModelRoute, RefusedPart, RequestRecorder } from '../../inference/index.ts';
import { addRefusedParts, applyRoute } from '../../inference/index.ts';
import type { IdSource } from '../../lib/index.ts';
import { Usage } from '../../messages/index.ts';
import type { ActiveRun } from '../active-run.ts';
import { AgentStepStarted } from '../loop-events.ts';
import type { NestOptions, OuterStep, Spent } from '../outer-step.ts';
import type { RunControl } from '../run-control.ts';
import type { EventSubject } from '../run-events.ts';
import type { RunState } from '../run-state.ts';
import type { Interruption } from '../step.ts';
import { addCost } from '../step.ts';
import { StepNotes } from '../step-notes.ts';
import type { StepProcess } from '../step-process.ts';
import type { StepModels } from '../step-models.ts';
import type { StepBudget, StepControl, StepEvents, StepNesting, StepScope } from '../step-scope.ts';
import { StepTimer } from '../step-timer.ts';
import { evaluateOuterLimits, toOuterEvaluation } from './outer-limits.ts';
import type { ProcessRun } from './process-run.ts';

type Subject = { -readonly [Key in keyof EventSubject]: EventSubject[Key] };

const noTools: readonly string[] = [];
const nothingSpent: Spent = Object.freeze({ usage: Usage.none() });

/** The end of a run, as one of its steps sees it. Once the step is over, a renewed run does not revive it. */
class OpenStepControl implements StepControl {
  readonly #control: RunControl;
  readonly #notes: StepNotes;
  #cutOff: { readonly interruption: Interruption; readonly signal: AbortSignal } | undefined;

  constructor(control: RunControl, notes: StepNotes) {
    this.#control = control;
    this.#notes = notes;
  }

  get signal(): AbortSignal {
    return this.#cutOff?.signal ?? this.#control.signal;
  }
  get interruption(): Interruption | undefined {
    return this.#cutOff?.interruption ?? this.#control.interruption;
  }
  get ending(): Interruption | undefined {
    return this.#cutOff?.interruption ?? this.#control.ending;
  }
  get forbidding(): ContinuationEvaluation | undefined {
    return this.#notes.forbidding;
  }

  close(): void {
    const { interruption, signal } = this.#control;
    if (interruption !== undefined) this.#cutOff = { interruption, signal };
  }
}

/** The number of the step that waits, or else of the next one. */
const getStepNumber = ({ execution: { pendingStep, results } }: RunState): number => pendingStep?.number ?? results.length + 1;

/** A step being taken. Its producer gets it as a StepScope; after `close` nothing that is left of the producer has an effect. */
export class OpenStep<State extends RunState, Context> implements StepScope<Context>, StepEvents, StepBudget, StepModels, StepNesting {
  readonly process: StepProcess<State, Context>;
  readonly run: ActiveRun<State, Context>;
  /** The state before the step. */
  readonly state: State;
  readonly subject: Subject;
  readonly finalizing: boolean;
  readonly time: StepTimer;
  readonly notes: StepNotes;
  readonly control: OpenStepControl;
  readonly requests: RequestRecorder | undefined;
  /** The part of the spending that the run around this one knows already. */
  passedOn: Spent = nothingSpent;
  /** True if a process ended in this step before. */
  isResumed = false;
  #effects: Effects | undefined;
  #isOver = false;
  #isStarted: boolean;
  #hasPassedOwn = false;

  /** Opens the next step, or the one that waited; `stepNumber` is 0 before the first step. */
  constructor(running: ProcessRun<State, Context>, state: State, stepNumber: number = getStepNumber(state)) {
    const { process, run } = running;
    const { pendingStep, results, id = '', regranted, outage } = state.execution;
    const { agentId, parentAgentId } = state;
    this.process = process;
    this.run = run;
    this.requests = run.requests;
    this.state = state;
    this.subject = { agentId, parentAgentId, executionId: id, stepNumber, participant: pendingStep?.partial.participant };
    this.finalizing = stepNumber > 0 && regranted !== true && results.last?.outcome.isFinalizing === true;
    this.time = new StepTimer(run.clock, run.outer?.time);
    this.notes = new StepNotes(run.outer === undefined ? undefined : (spent) => this.#passOn(spent));
    // The outermost run keeps them for all.
    this.notes.coolDowns = run.outer === undefined ? state.data.coolDowns : undefined;
    this.notes.refusedParts = run.outer === undefined ? state.data.refusedParts : undefined;
    this.control = new OpenStepControl(run.control, this.notes);
    // A step that waited is entered again, not started; a start is not a step.
    this.#isStarted = stepNumber === 0 || pendingStep !== undefined || outage !== undefined;
    if (stepNumber > 0 && this.#isStarted) this.isResumed = run.takeResumed().resumed;
    if (process.takesTurns !== true && process.forbidsSteps !== true) this.ensureStarted(this.time.startedAt);
  }

  get executionId(): string {
    return this.subject.executionId;
  }
  get stepNumber(): number {
    return this.subject.stepNumber;
  }
  get context(): Context {
    return this.run.context;
  }
  get skipsHooks(): boolean {
    return this.run.options.skipsHooks === true || this.run.outer?.skipsHooks === true;
  }
  get ids(): IdSource {
    return this.run.ids;
  }
  get effects(): Effects {
    return (this.#effects ??= this.time.watch(this.run.effects, () => this.#isOver));
  }
  get onProblem(): ProblemReporter {
    return this.run.onProblem;
  }
  // One object serves these ports: it is made for every step, and most of it is seldom used.
  get events(): StepEvents {
    return this;
  }
  get budget(): StepBudget {
    return this;
  }
  get models(): StepModels {
    return this;
  }
  get nesting(): StepNesting {
    return this;
  }

  emit(make: (header: EventHeader) => BaseEvent): void {
    if (!this.#isOver) this.run.events.create(this.subject, make);
  }
  emitPiece(make: (header: EventHeader) => BaseEvent): void {
    if (!this.#isOver) this.run.events.createPiece(this.subject, make);
  }
  beginStep(): void {
    if (!this.#isOver) this.ensureStarted();
  }
  beginTurn(participant: string): void {
    if (this.#isOver) return;
    this.subject.participant = participant;
    this.ensureStarted();
  }
  /** Emits that the step started, unless that was emitted. */
  ensureStarted(at?: number): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const { events } = this.run;
    const { resumed, attempt } = this.run.takeResumed();
    this.isResumed = resumed;
    const facts = { messageCount: this.state.messages.length, resumed, attempt, tools: this.process.toolNames ?? noTools };
    events.emit(new AgentStepStarted(events.nextHeader(this.subject, at), this.process.name, facts));
  }

  get watchesCost(): boolean {
    return this.run.outer?.budget.watchesCost === true;
  }
  get price(): StepBudget['price'] {
    return this.run.outer?.budget.price;
  }

  get coolDowns(): CoolDowns | undefined {
    return this.run.outer === undefined ? this.notes.coolDowns : this.run.outer.models.coolDowns;
  }
  record(route: ModelRoute): void {
    if (this.#isOver) return;
    if (this.run.outer !== undefined) this.run.outer.models.record(route);
    else this.notes.coolDowns = applyRoute(this.notes.coolDowns, route, this.run.clock.now());
  }

  get refusedParts(): readonly RefusedPart[] | undefined {
    return this.run.outer === undefined ? this.notes.refusedParts : this.run.outer.models.refusedParts;
  }
  recordRefused(failure: Failure): void {
    if (this.#isOver) return;
    if (this.run.outer !== undefined) this.run.outer.models.recordRefused(failure);
    else this.notes.refusedParts = addRefusedParts(this.notes.refusedParts, failure);
  }

  get sharedBy(): StepModels['sharedBy'] {
    return this.run.options.sharedBy ?? this.run.outer?.models.sharedBy;
  }

  get path(): string {
    return this.run.outer?.path ?? '';
  }
  openInside(key: string, { own, ids, path = '', watchesCost = false, price, view }: NestOptions): OuterStep {
    const { run, subject } = this;
    const isOpen = (): boolean => !this.#isOver;
    if (!this.#hasPassedOwn) this.#passOn(own);
    this.#hasPassedOwn = true;
    return {
      agentId: subject.agentId,
      executionId: subject.executionId,
      participant: subject.participant ?? run.outer?.participant,
      depth: (run.outer?.depth ?? 0) + 1,
      path: `${this.path}${path}`,
      ...(ids !== undefined && { ids }),
      get isOpen() {
        return isOpen();
      },
      skipsHooks: this.skipsHooks,
      effects: withKeyPrefix(this.effects, key),
      onProblem: run.givenOnProblem,
      control: run.control,
      events: run.events,
      budget: {
        watchesCost: watchesCost || this.watchesCost,
        price,
        spend: (spent) => this.notes.add(spent),
        evaluateLimits: (more) => [
          ...(this.notes.forbidding === undefined ? [] : [toOuterEvaluation(this.notes.forbidding)]),
          ...evaluateOuterLimits(this, [own, this.notes, more]),
        ],
      },
      models: this,
      requests: run.requests?.openInside(key, view),
      time: this.time,
    };
  }

  close(): void {
    this.#isOver = true;
    this.notes.close();
    this.control.close();
  }

  // At every depth at once, or two branches would not know of each other.
  #passOn({ usage, cost }: Spent): void {
    const { outer } = this.run;
    if (outer === undefined) return;
    outer.budget.spend({ usage, cost });
    this.passedOn = { usage: Usage.add(this.passedOn.usage, usage), cost: addCost(this.passedOn.cost, cost) };
  }
}
