import type { ContinuationCriterion } from '../continuation/index.ts';
import { ContinuationCriteria, RepeatedToolCall, ToolCallPresenceCheck } from '../continuation/index.ts';
import type { Findings, RepeatableCall } from '../continuation/index.ts';
import type { ErrorPolicy } from '../errors/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { checkKeys, describeValue, InvalidArgumentError, omitUndefined } from '../lib/index.ts';
import type { HookChain } from '../hooks/index.ts';
import { HookPoint } from '../hooks/index.ts';
import type { ProducedStep, StepProcess, StepScope } from '../step-by-step/index.ts';
import { requestedCriteria, standardCriteria } from '../step-by-step/index.ts';
import type { ToolExecution } from '../tools/index.ts';
import { inspectStep } from './inspect-step.ts';
import { DriverStep } from './driver-step.ts';
import type { ToolUseLimits } from './options.ts';
import { resumeStep } from './resume-step.ts';
import { runToolCalls } from './run-tool-calls.ts';
import type { Setup } from './setup.ts';
import { createEmptyStep, toProducedStep, toWholeStep, withUniqueCalls } from './steps.ts';
import { refuseCalls } from './sum-up.ts';
import { ToolCallCompleted } from './tool-use-events.ts';
import type { ToolUseState } from './tool-use-state.ts';
import type { ToolUseStep } from './tool-use-step.ts';
import { StepType } from './tool-use-step.ts';

/** Rules that a conversation with tools is judged by. */
export interface Rules<State> {
  readonly limits: ToolUseLimits;
  /** Undefined if criteria of the host replace the default ones, and no policy was given. */
  readonly policy?: ErrorPolicy;
  readonly finishReasons?: readonly string[];
  /** True if criteria of the host replace the default ones. */
  readonly replacesDefaults?: boolean;
  /** Criteria of the host, of capabilities and of guards. */
  readonly criteria?: readonly ContinuationCriterion<State>[];
}

/** The calls of each of the last steps, oldest first. */
function listRecentCalls({ execution }: ToolUseState, steps: number): readonly (readonly RepeatableCall[])[] {
  const { results, judgedStep } = execution;
  const current = judgedStep === undefined ? [] : [judgedStep.toolCalls];
  const wanted = Math.min(results.length, steps - current.length);
  const recorded = Array.from({ length: Math.max(0, wanted) }, (_, index) => results.at(index - wanted)?.step.toolCalls ?? []);
  return [...recorded, ...current];
}

const limitNames = ['steps', 'tokens', 'wallMs', 'activeMs', 'costUsd', 'repeatedToolCalls', 'onLimit', 'finalizeMs'];

// By the names under which they were given.
function checkLimits(limits: ToolUseLimits): void {
  checkKeys('limits', limits, limitNames);
  const { repeatedToolCalls: repeated } = limits;
  if (repeated !== undefined && !(Number.isInteger(repeated) && repeated >= 2))
    throw new InvalidArgumentError(`limits.repeatedToolCalls must be a whole number of 2 or more, not ${describeValue(repeated)}.`);
}

/** All rules, in the order in which they are named if several forbid. */
export function toCriteria<State extends ToolUseState>(rules: Rules<State>): ContinuationCriteria<State> {
  const { limits, policy, finishReasons, replacesDefaults, criteria = [] } = rules;
  const { repeatedToolCalls, ...budgets } = limits;
  checkLimits(limits);
  const options = omitUndefined({ limits: budgets, policy, finishReasons });
  const hasWork = ({ stepCount, currentStep }: State): boolean => stepCount === 0 || currentStep?.hasToolCalls === true;
  return ContinuationCriteria.from<State>(
    ...(replacesDefaults === true ? requestedCriteria(options) : standardCriteria(options)),
    ...(repeatedToolCalls === undefined ? [] : [new RepeatedToolCall<State>(repeatedToolCalls, listRecentCalls)]),
    ...(replacesDefaults === true ? [] : [new ToolCallPresenceCheck<State>(hasWork)]),
    ...criteria,
  );
}

/** Creates the process of a conversation with tools. */
export function createToolUseProcess<State extends ToolUseState>(
  setup: Setup,
  rules: Rules<State>,
  identity?: JsonObject,
): StepProcess<State>;
export function createToolUseProcess(setup: Setup, rules: Rules<ToolUseState>, identity?: JsonObject): StepProcess<ToolUseState> {
  const { finalizeMs } = rules.limits;
  const { hooks } = setup;
  const criteria = toCriteria(rules);
  return {
    name: setup.name,
    toolNames: setup.toolNames,
    criteria,
    ...omitUndefined({ finalizeMs, identity }),
    checkContext: (context) => {
      if (setup.needsContext && context === undefined)
        throw new InvalidArgumentError(
          'This agent needs a context: its tools, hooks or instructions read it. Pass { context } to run() or start(), also when you resume a state.',
        );
    },
    produce: (state, scope) => produce(new DriverStep(setup, state, scope), setup),
    eventsOf: (step, next) => listClosedCalls(step).map((execution) => new ToolCallCompleted(next(), setup.name, execution)),
    emptyStep: createEmptyStep,
    isRepeatable: ({ toolCalls, outputMessages }) => toolCalls.length === 0 && outputMessages.length === 0,
    ...(hooks !== undefined && createHookPhases(setup, hooks)),
  };
}

/** Asks the model and runs the calls of its answer, or resumes the step that waits. */
async function produce(turn: DriverStep, setup: Setup): Promise<ProducedStep<ToolUseStep>> {
  const { scope, state } = turn;
  const { hooks, driver } = setup;
  if (state.pendingStep !== undefined) return resumeStep({ setup, turn, step: state.pendingStep.partial }, state.pendingStep);
  if (hooks?.has(HookPoint.BeforeStep) === true) await turn.applyBeforeStepHooks(hooks);
  // An evaluation of a hook ended the run: the model is not asked, and there is no step, unless an earlier process had the answer.
  if (scope.control.forbidding !== undefined && !turn.isAnswered()) return { type: 'forbidden' };
  scope.events.beginStep();
  const asked = withUniqueCalls(await driver.ask(turn));
  const { failures } = turn;
  const step = failures.length === 0 ? asked : { ...asked, stepType: StepType.Error, errors: [...asked.errors, ...failures] };
  if (step.toolCalls.length === 0) return toWholeStep(withoutCancelled(step, scope));
  if (scope.finalizing) return refuseCalls(turn, step);
  return toProducedStep(turn, step, await runToolCalls({ setup, turn, step }, step.toolCalls));
}

// A question that was not asked because a vote came first did not fail.
function withoutCancelled(step: ToolUseStep, { control }: StepScope): ToolUseStep {
  if (control.forbidding === undefined) return step;
  const errors = step.errors.filter(({ code }) => code !== 'cancelled');
  return errors.length === step.errors.length ? step : markHeldBack({ ...step, errors });
}

const markHeldBack = (step: ToolUseStep): ToolUseStep => ({ ...step, interrupted: 'vote' });

/** The phases that only hooks need. */
function createHookPhases({ output }: Setup, hooks: HookChain): Partial<StepProcess<ToolUseState>> {
  const inspects = hooks.has(HookPoint.AfterStep) || hooks.has(HookPoint.OnError);
  return {
    observe: (seen) => hooks.observe(seen),
    ...(hooks.canForbidSteps && { forbidsSteps: true }),
    ...(hooks.has(HookPoint.ExecutionStart) && {
      enter: async (state: ToolUseState, scope: StepScope) => {
        await hooks.executionStart({ state, scope });
      },
    }),
    ...(inspects && { inspect: (candidate: ToolUseState, scope: StepScope) => inspectStep({ hooks, output }, candidate, scope) }),
    ...(hooks.watchesTime && {
      remainingMs: (state: ToolUseState, findings: Findings) => hooks.remainingMs(state, findings),
      evaluateTime: (state: ToolUseState, findings: Findings) => hooks.evaluateTime(state, findings),
    }),
  };
}

// Calls that were given up did not end by themselves.
function listClosedCalls({ answers, executions }: ToolUseStep): readonly ToolExecution[] {
  if (answers === undefined) return [];
  const closed = new Set(answers.filter(({ type }) => type === 'closed').map(({ id }) => id));
  return executions.filter(({ toolCallId }) => closed.has(toolCallId));
}
