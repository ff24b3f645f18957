import type { ContinuationCriterion } from '../continuation/index.ts';
import { ContinuationCriteria, RepeatedToolCall, ToolCallPresenceCheck } from '../continuation/index.ts';
import type { RepeatableCall } from '../continuation/index.ts';
import type { ErrorPolicy } from '../errors/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { Usage } from '../messages/index.ts';
import type { StepProcess } from '../step-by-step/index.ts';
import { standardCriteria } from '../step-by-step/index.ts';
import { carryOutAll } from './carry-out.ts';
import { goOn } from './go-on.ts';
import { OpenTurn } from './open-turn.ts';
import type { ToolUseLimits } from './options.ts';
import type { Setup } from './setup.ts';
import type { ToolUseState } from './tool-use-state.ts';
import type { ToolUseStep } from './tool-use-step.ts';
import { StepType } from './tool-use-step.ts';

/** By which rules a conversation with tools is judged. */
export interface Rules<State> {
  readonly limits: ToolUseLimits;
  readonly policy: ErrorPolicy;
  readonly finishReasons?: readonly string[];
  readonly criteria?: readonly ContinuationCriterion<State>[];
}

/** The calls of each of the last steps, oldest first. */
export function recentToolCalls({ execution }: ToolUseState, steps: number): readonly (readonly RepeatableCall[])[] {
  const { results, candidate } = execution;
  const current = candidate === undefined ? [] : [candidate.toolCalls];
  const wanted = Math.min(results.length, steps - current.length);
  const recorded = Array.from({ length: Math.max(0, wanted) }, (_, index) => results.at(index - wanted)?.step.toolCalls ?? []);
  return [...recorded, ...current];
}

/** All rules, in the order in which they are named where several forbid. */
export function toCriteria<State extends ToolUseState>(rules: Rules<State>): ContinuationCriteria<State> {
  const { limits, policy, finishReasons = [], criteria = [] } = rules;
  const { repeatedToolCalls, ...budgets } = limits;
  return ContinuationCriteria.from<State>(
    ...standardCriteria({ limits: budgets, policy, finishReasons }),
    ...(repeatedToolCalls === undefined ? [] : [new RepeatedToolCall<State>(repeatedToolCalls, recentToolCalls)]),
    new ToolCallPresenceCheck<State>(({ stepCount, currentStep }) => stepCount === 0 || currentStep?.hasToolCalls === true),
    ...criteria,
  );
}

/** Makes the process of a conversation with tools. */
export function createToolUseProcess<State extends ToolUseState, Context>(
  setup: Setup<Context>,
  rules: Rules<State>,
  identity?: JsonObject,
): StepProcess<State, Context> {
  const { finalizeMs } = rules.limits;
  return {
    name: setup.name,
    criteria: toCriteria(rules),
    ...(finalizeMs !== undefined && { finalizeMs }),
    ...(identity !== undefined && { identity }),
    produce: async (state, scope) => {
      const turn = new OpenTurn(setup, state, scope);
      const { pendingStep } = state;
      if (pendingStep !== undefined) return goOn({ setup, turn, step: pendingStep.partial }, pendingStep) as never;
      const step = await setup.driver.ask(turn);
      return (step.toolCalls.length === 0 ? { type: 'step', step } : await carryOutAll({ setup, turn, step })) as never;
    },
    emptyStep: (facts) => emptyStep(facts) as never,
  };
}

const emptyStep = (facts: Pick<ToolUseStep, 'id' | 'errors' | 'interrupted'>): ToolUseStep => ({
  ...facts,
  outputMessages: [],
  usage: Usage.none(),
  stepType: StepType.Error,
  toolCalls: [],
  executions: [],
});
