// Carrying out the calls of a step.
// Owns:     which calls run, which wait and for whom, and what is told of them.
// Does not: judge a failure: the policy does.
// K1. A gated call never runs before somebody agreed to it.
// K2. Every call ends in one execution or one wait.
import type { Json } from '../lib/index.ts';
import type { ToolCall } from '../messages/index.ts';
import type { Produced, Wait } from '../step-by-step/index.ts';
import type { CallOutcome, RunCallsOptions, ToolExecution } from '../tools/index.ts';
import { cancelledExecution, runCalls } from '../tools/index.ts';
import { finishedStep } from './finished-step.ts';
import type { OpenTurn } from './open-turn.ts';
import type { Setup } from './setup.ts';
import type { CallFacts } from './tool-use-events.ts';
import { ToolApprovalRequested, ToolCallCompleted, ToolCallProgress, ToolCallStarted } from './tool-use-events.ts';
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

function callOptions<Context>(work: Work<Context>, untold: Set<string>): RunCallsOptions<Context> {
  const { setup, turn, step } = work;
  const { scope, state } = turn;
  const tell = (call: ToolCall): void => scope.emit((header) => new ToolCallStarted(header, setup.name, factsOf(call)));
  const progressed = (call: ToolCall, progress: Json): void =>
    scope.emit((header) => new ToolCallProgress(header, setup.name, { ...factsOf(call), progress }), { numbered: false });
  return {
    run: (key, work, options) => scope.effects.run(key, work, options),
    step: scope.stepNumber,
    idempotencyKey: ({ id }) => `${scope.executionId}/${scope.stepNumber}/${id}`,
    indexOf: (call, position) => {
      const index = step.toolCalls.findIndex(({ id }) => id === call.id);
      return index === -1 ? position : index;
    },
    context: scope.context,
    state,
    signal: scope.signal,
    clock: scope.clock,
    onWaiting: (outcome) => {
      // Nobody is asked in a run that is about to end.
      const wait = scope.ending === undefined ? waitFor(outcome, work) : undefined;
      if (wait !== undefined) tellWait(work, wait);
    },
    onStart: tell,
    onProgress: progressed,
    onEnd: (execution) => {
      if (isAsked(execution, work)) untold.add(execution.toolCallId);
      else tellEnd(work, execution);
    },
    ...(setup.toolConcurrency !== undefined && { limit: setup.toolConcurrency }),
    ...(setup.onProblem !== undefined && { onProblem: setup.onProblem }),
  };
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
  // Calls about which a person was to be asked; where the run is cut off before, their end is told after all.
  const untold = new Set<string>();
  const options = callOptions(work, untold);
  const outcomes = await runCalls(work.setup.tools, calls, approved ? { ...options, isApproved: () => true } : options);
  const waits: Wait[] = [];
  const executions: ToolExecution[] = [];
  for (const outcome of outcomes) {
    const wait = waitFor(outcome, work);
    if (wait !== undefined) waits.push(wait);
    else if (outcome.type === 'ended') {
      if (untold.has(outcome.call.id)) tellEnd(work, outcome.execution);
      executions.push(outcome.execution);
    }
  }
  return { executions, waits };
}

const noMoreTools = 'The call was not made: a limit has been reached, and no tool can be called any more.';

/** Carries out the calls of a step that was just answered. */
export async function carryOutAll<Context>(work: Work<Context>): Promise<Produced<ToolUseStep>> {
  const { turn, step } = work;
  if (!turn.scope.finalizing) return settledStep(work, await carryOut(work, step.toolCalls));
  const startedAt = turn.scope.clock.now();
  const executions = step.toolCalls.map((call) => cancelledExecution(call, { startedAt, text: noMoreTools }));
  return settledStep(work, { executions, waits: [] });
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
