// Carrying out the calls of a step.
// Owns:     which calls run, which wait and for whom, and what is told of them.
// Does not: judge a failure: the policy does.
// K1. A gated call never runs before somebody agreed to it.
// K2. Every call ends in one execution or one wait.
// K3. Once a vote forbids to go on, no further call begins.
import type { Failure } from '../errors/index.ts';
import type { ProblemReporter } from '../events/index.ts';
import type { CallVerdict, HookChain } from '../hooks/index.ts';
import { HookPoint } from '../hooks/index.ts';
import type { Clock, Json } from '../lib/index.ts';
import { stableStringify } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { Produced, RunState, Wait } from '../step-by-step/index.ts';
import type {
  CallOutcome,
  EffectOutcome,
  EffectRunnerOptions,
  NestedCall,
  NestedOutcome,
  PreparedCall,
  RunCallsOptions,
  Tool,
  ToolExecution,
} from '../tools/index.ts';
import { cancelledExecution, runCalls } from '../tools/index.ts';
import { carryOnNested, memoOf } from './carry-on-nested.ts';
import { finishedStep } from './finished-step.ts';
import type { CallFacts } from './tool-use-events.ts';
import { ToolApprovalRequested, ToolCallCompleted, ToolCallProgress, ToolCallStarted } from './tool-use-events.ts';
import type { ToolUseState } from './tool-use-state.ts';
import type { NestedMemo, ToolUseStep } from './tool-use-step.ts';
import type { Work } from './work.ts';

type Let = { readonly type: 'call'; readonly call: ToolCall } | PreparedCall;

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
  /** What hooks threw that looked at results. */
  readonly failures: Failure[] = [];
  declare readonly before?: (call: ToolCall, index: number) => Let | Promise<Let>;
  declare readonly after?: (execution: ToolExecution, call: ToolCall, index: number) => ToolExecution | Promise<ToolExecution>;

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
    const { hooks } = setup;
    if (hooks !== undefined) this.before = (call, index) => this.#before(hooks, call, index);
    if (hooks?.has(HookPoint.AfterTool) === true)
      this.after = (execution, call) => lookedAt(work, { hooks, execution, call }, this.failures);
  }

  #before(hooks: HookChain, call: ToolCall, index: number): Let | Promise<Let> {
    const { turn, step } = this.#work;
    const { scope } = turn;
    if (scope.forbidding !== undefined) return notBegun(this.#work, call);
    const tool = turn.tools.get(call.name);
    // A call that cannot be made is nobody's matter.
    if (!hooks.has(HookPoint.BeforeTool) || tool === undefined || call.rawArgs !== undefined) return { type: 'call', call };
    // A call that a person agreed to is looked at once more: time has passed, and its arguments may have been edited.
    const detail = this.#approved ? `${index}/approved-${step.answers?.length ?? 0}` : String(index);
    const looked = hooks.beforeTool({ state: turn.state, scope, detail }, { call, tool, approved: this.#approved });
    return looked instanceof Promise ? looked.then((late) => this.#verdict(call, tool, late)) : this.#verdict(call, tool, looked);
  }

  #verdict(call: ToolCall, tool: Tool, { state, verdict }: { readonly state: RunState; readonly verdict: CallVerdict }): Let {
    const { turn } = this.#work;
    turn.keep(state);
    if (verdict.type === 'ended') return { type: 'ended', call, execution: verdict.execution };
    if (turn.scope.forbidding !== undefined) return notBegun(this.#work, call);
    const isOther = this.#approved && verdict.call !== call && stableStringify(verdict.call.args) !== stableStringify(call.args);
    return isOther ? { type: 'needs-approval', call: verdict.call, tool, problem: otherArguments } : verdict;
  }

  runNested(nested: NestedCall, index: number): Promise<NestedOutcome> {
    const { usage, cost } = this.#work.step;
    return carryOnNested(this.#work, nested, { index, own: { usage, cost }, round: 1, answers: [] });
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
    const { ending, forbidding } = this.#work.turn.scope;
    const waits = ending === undefined && forbidding === undefined ? waitsFor(outcome, this.#work) : [];
    // What is asked inside a run of its own was told there.
    if (outcome.type !== 'nested-waiting') for (const wait of waits) tellWait(this.#work, wait);
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

/** What has to be settled about a call that did not end by itself; nothing where it ended. */
function waitsFor<Context>(outcome: CallOutcome, work: Work<Context>): readonly Wait[] {
  const { id, name: toolName, args } = outcome.call;
  switch (outcome.type) {
    case 'needs-approval': {
      const { problem } = outcome;
      return [{ type: 'approval', id, toolName, args, ...(problem !== undefined && { problem }) }];
    }
    case 'client-tool':
      return [{ type: 'client-tool', id, toolName, args }];
    case 'provider':
      return [];
    case 'nested-waiting':
      // Holds: these come from this room's own work on runs inside calls.
      return outcome.waits as readonly Wait[];
    case 'ended':
      return isAsked(outcome.execution, work) ? [{ type: 'unknown-call', id, toolName, args }] : [];
  }
}

const otherArguments = 'a hook changed the arguments after they had been approved';

/** A call that is not begun, because somebody voted to end the run. */
function notBegun<Context>({ turn }: Work<Context>, call: ToolCall): PreparedCall {
  const { forbidding, clock } = turn.scope;
  const why = forbidding === undefined ? '' : ` (${forbidding.criterion}: ${forbidding.reason})`;
  const text = `The call was not made: the run was told to end${why}.`;
  return { type: 'ended', call, execution: cancelledExecution(call, { startedAt: clock.now(), text }) };
}

/** What hooks make of a result. */
export function lookedAt<Context>(
  { turn, setup, step }: Work<Context>,
  { hooks, execution, call }: { readonly hooks: HookChain; readonly execution: ToolExecution; readonly call: ToolCall },
  failures: Failure[],
): ToolExecution | Promise<ToolExecution> {
  const index = step.toolCalls.findIndex(({ id }) => id === call.id);
  const place = { state: turn.state, scope: turn.scope, detail: String(index) };
  const settle = (looked: {
    readonly state: RunState;
    readonly execution: ToolExecution;
    readonly failures: readonly Failure[];
  }): ToolExecution => {
    turn.keep(looked.state);
    failures.push(...looked.failures);
    return looked.execution;
  };
  const looked = hooks.afterTool(place, execution, { call, tool: setup.tools.get(call.name) });
  return looked instanceof Promise ? looked.then(settle) : settle(looked);
}

function tellWait<Context>({ setup, turn }: Work<Context>, wait: Wait): void {
  if (wait.type !== 'approval' && wait.type !== 'client-tool') return;
  const facts: CallFacts = { tool: wait.toolName, toolCallId: wait.id, args: wait.args, waitId: `${turn.scope.path}${wait.id}` };
  const Told = wait.type === 'approval' ? ToolApprovalRequested : ToolCallStarted;
  turn.scope.emit((header) => new Told(header, setup.name, facts));
}

/** What came of some of a step's calls. */
export interface CarriedOut {
  readonly executions: readonly ToolExecution[];
  readonly waits: readonly Wait[];
  /** Runs inside calls that wait. */
  readonly nested?: Readonly<Record<string, NestedMemo>>;
  /** What went wrong beside the calls themselves. */
  readonly failures?: readonly Failure[];
}

/** Runs calls side by side. Those that need somebody are not run; what they wait for is told. */
export async function carryOut<Context>(
  work: Work<Context>,
  calls: readonly ToolCall[],
  { approved = false }: { readonly approved?: boolean } = {},
): Promise<CarriedOut> {
  if (calls.length === 0) return { executions: [], waits: [] };
  const surroundings = new CallSurroundings(work, approved);
  return collected(work, surroundings, await runCalls(work.turn.tools, calls, surroundings));
}

function collected<Context>(work: Work<Context>, surroundings: CallSurroundings<Context>, outcomes: readonly CallOutcome[]): CarriedOut {
  const waits: Wait[] = [];
  const executions: ToolExecution[] = [];
  let nested: Record<string, NestedMemo> | undefined;
  for (const outcome of outcomes) {
    const waited = waitsFor(outcome, work);
    waits.push(...waited);
    if (outcome.type === 'nested-waiting') nested = { ...nested, [outcome.call.id]: memoOf(outcome, 1) };
    if (outcome.type !== 'ended' || waited.length > 0) continue;
    if (surroundings.isUntold(outcome.call.id)) tellEnd(work, outcome.execution);
    executions.push(outcome.execution);
  }
  const { failures } = surroundings;
  return { executions, waits, ...(nested !== undefined && { nested }), ...(failures.length > 0 && { failures }) };
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
export function settledStep<Context>({ turn, step }: Work<Context>, carriedOut: CarriedOut): Produced<ToolUseStep> {
  const { executions, waits, nested, failures = [] } = carriedOut;
  const { nested: _, ...rest } = step;
  const known: ToolUseStep = failures.length === 0 ? rest : { ...rest, errors: [...rest.errors, ...failures] };
  if (waits.length > 0) return { type: 'waiting', partial: { ...known, executions, ...(nested !== undefined && { nested }) }, waits };
  const finished = finishedStep(known, executions, turn.scope.ids);
  const { forbidding, interruption } = turn.scope;
  const wasHeldBack = forbidding !== undefined && interruption === undefined && executions.some(({ status }) => status === 'cancelled');
  if (wasHeldBack) return wholeStep({ ...finished, interrupted: 'vote' });
  // A run inside that was cut off gives what it has: a result, but not a whole one.
  const hasRunInside = interruption !== undefined && step.toolCalls.some(({ name }) => turn.tools.get(name)?.type === 'nested');
  return wholeStep(hasRunInside ? { ...finished, interrupted: interruption } : finished);
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
