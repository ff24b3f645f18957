// Carrying out the calls of a step.
// Owns:     which calls run, which wait and for whom, and what is told of them.
// Does not: judge a failure: the policy does.
// K1. A gated call never runs before somebody agreed to it.
// K2. Every call ends in one execution or one wait.
import type { ProblemReporter } from '../events/index.ts';
import type { Clock, Json } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { Produced, Wait } from '../step-by-step/index.ts';
import type { CallOutcome, EffectOutcome, EffectRunnerOptions, RunCallsOptions, ToolExecution } from '../tools/index.ts';
import { cancelledExecution, runCalls } from '../tools/index.ts';
import { finishedStep } from './finished-step.ts';
import type { OpenTurn } from './open-turn.ts';
import type { Setup } from './setup.ts';
import type { CallFacts } from './tool-use-events.ts';
import { ToolApprovalRequested, ToolCallCompleted, ToolCallProgress, ToolCallStarted } from './tool-use-events.ts';
import type { ToolUseState } from './tool-use-state.ts';
import type { ToolUseStep } from './tool-use-step.ts';

/** A step that is being worked on. */
export interface Work<Context> {
  readonly setup: Setup<Context>;
  readonly turn: OpenTurn<Context>;
  readonly step: ToolUseStep;
}

const factsOf = ({ id, name, args }: ToolCall): CallFacts => ({ tool: name, toolCallId: id, args });

/** Tells that a call has ended. */
export function tellEnd<Context>({ setup, turn }: Work<Context>, execution: ToolExecution): void {
  turn.scope.emit((header) => new ToolCallCompleted(header, setup.name, execution));
}

/** What the calls of a step run with. A class, because one is made for every step with calls. */
class CallSurroundings<Context> implements RunCallsOptions<Context> {
  readonly step: number;
  readonly context: Context;
  readonly state: ToolUseState;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  declare readonly limit?: number;
  declare readonly onProblem?: ProblemReporter;
  readonly #work: Work<Context>;
  readonly #approved: boolean;
  #untold: Set<string> | undefined;

  constructor(work: Work<Context>, approved: boolean) {
    const { setup, turn } = work;
    const { scope } = turn;
    this.step = scope.stepNumber;
    this.context = scope.context;
    this.state = turn.state;
    this.signal = scope.signal;
    this.clock = scope.clock;
    if (setup.toolConcurrency !== undefined) this.limit = setup.toolConcurrency;
    if (setup.onProblem !== undefined) this.onProblem = setup.onProblem;
    this.#work = work;
    this.#approved = approved;
  }

  run<Value>(
    key: string,
    work: (signal: AbortSignal) => Value | Promise<Value>,
    options?: EffectRunnerOptions,
  ): Promise<EffectOutcome<Value>> {
    return this.#work.turn.scope.effects.run(key, work, options);
  }
  idempotencyKey({ id }: ToolCall): string {
    const { scope } = this.#work.turn;
    return `${scope.executionId}/${scope.stepNumber}/${id}`;
  }
  indexOf(call: ToolCall, position: number): number {
    const index = this.#work.step.toolCalls.findIndex(({ id }) => id === call.id);
    return index === -1 ? position : index;
  }
  isApproved(): boolean {
    return this.#approved;
  }
  onWaiting(outcome: CallOutcome): void {
    // Nobody is asked in a run that is about to end.
    const wait = this.#work.turn.scope.ending === undefined ? waitFor(outcome, this.#work) : undefined;
    if (wait !== undefined) tellWait(this.#work, wait);
  }
  onStart(call: ToolCall): void {
    const { setup, turn } = this.#work;
    turn.scope.emit((header) => new ToolCallStarted(header, setup.name, factsOf(call)));
  }
  onProgress(call: ToolCall, progress: Json): void {
    const { setup, turn } = this.#work;
    turn.scope.emit((header) => new ToolCallProgress(header, setup.name, { ...factsOf(call), progress }), { numbered: false });
  }
  onEnd(execution: ToolExecution): void {
    if (isAsked(execution, this.#work)) (this.#untold ??= new Set()).add(execution.toolCallId);
    else tellEnd(this.#work, execution);
  }
  /** True for a call about which a person was to be asked: where the run is cut off before, its end is told after all. */
  isUntold(id: string): boolean {
    return this.#untold?.has(id) === true;
  }
}

/** Whether a person is asked what became of a call. Nobody is, where the run is over. */
const isAsked = <Context>({ status }: ToolExecution, { setup, turn }: Work<Context>): boolean =>
  status === 'unknown' && setup.onUnknown === 'ask' && turn.scope.interruption === undefined;

/** What has to be settled about a call that did not end by itself; undefined where it ended. */
function waitFor<Context>(outcome: CallOutcome, work: Work<Context>): Wait | undefined {
  const { id, name: toolName, args } = outcome.call;
  switch (outcome.type) {
    case 'needs-approval':
      return { type: 'approval', id, toolName, args };
    case 'client-tool':
      return { type: 'client-tool', id, toolName, args };
    case 'provider':
      return undefined;
    case 'ended':
      return isAsked(outcome.execution, work) ? { type: 'unknown-call', id, toolName, args } : undefined;
  }
}

function tellWait<Context>({ setup, turn }: Work<Context>, wait: Wait): void {
  if (wait.type !== 'approval' && wait.type !== 'client-tool') return;
  const facts: CallFacts = { tool: wait.toolName, toolCallId: wait.id, args: wait.args };
  const Told = wait.type === 'approval' ? ToolApprovalRequested : ToolCallStarted;
  turn.scope.emit((header) => new Told(header, setup.name, facts));
}

/** What came of some of a step's calls. */
export interface CarriedOut {
  readonly executions: readonly ToolExecution[];
  readonly waits: readonly Wait[];
}

/** Runs calls side by side. Those that need somebody are not run; what they wait for is told. */
export async function carryOut<Context>(
  work: Work<Context>,
  calls: readonly ToolCall[],
  { approved = false }: { readonly approved?: boolean } = {},
): Promise<CarriedOut> {
  if (calls.length === 0) return { executions: [], waits: [] };
  const surroundings = new CallSurroundings(work, approved);
  return collected(work, surroundings, await runCalls(work.setup.tools, calls, surroundings));
}

function collected<Context>(work: Work<Context>, surroundings: CallSurroundings<Context>, outcomes: readonly CallOutcome[]): CarriedOut {
  const waits: Wait[] = [];
  const executions: ToolExecution[] = [];
  for (const outcome of outcomes) {
    const wait = waitFor(outcome, work);
    if (wait !== undefined) waits.push(wait);
    else if (outcome.type === 'ended') {
      if (surroundings.isUntold(outcome.call.id)) tellEnd(work, outcome.execution);
      executions.push(outcome.execution);
    }
  }
  return { executions, waits };
}

const noMoreTools = 'The call was not made: a limit has been reached, and no tool can be called any more.';

/** Carries out the calls of a step that was just answered. */
export async function carryOutAll<Context>(work: Work<Context>): Promise<Produced<ToolUseStep>> {
  return settledStep(work, work.turn.scope.finalizing ? notCarriedOut(work) : await carryOut(work, work.step.toolCalls));
}

function notCarriedOut<Context>({ turn, step }: Work<Context>): CarriedOut {
  const startedAt = turn.scope.clock.now();
  return { executions: step.toolCalls.map((call) => cancelledExecution(call, { startedAt, text: noMoreTools })), waits: [] };
}

/** The step with its results, or, where calls wait for somebody, as it is parked. */
export function settledStep<Context>({ turn, step }: Work<Context>, { executions, waits }: CarriedOut): Produced<ToolUseStep> {
  if (waits.length > 0) return { type: 'waiting', partial: { ...step, executions }, waits };
  return wholeStep(finishedStep(step, executions, turn.scope.ids));
}

/** A step as it is handed in, which says whether any of it was cut off. */
export function wholeStep(step: ToolUseStep): Produced<ToolUseStep> {
  const { errors, executions, interrupted } = step;
  const wasCutOff =
    interrupted !== undefined ||
    errors.some(({ code }) => code === 'cancelled') ||
    executions.some(({ status }) => status === 'cancelled' || status === 'unknown');
  return { type: 'step', step, isWhole: !wasCutOff };
}
