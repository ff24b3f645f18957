import type { ContinuationCriterion, Findings } from '../continuation/index.ts';
import { ContinuationCriteria, ContinuationDecision, ContinuationEvaluation } from '../continuation/index.ts';
import { classifyError } from '../errors/index.ts';
import { checkKeys, describeValue, InvalidArgumentError } from '../lib/index.ts';
import type { RunState } from '../step-by-step/index.ts';
import { getJudgingTime } from '../step-by-step/index.ts';
import type { Hook } from './hook.ts';
import { defineAnyHook } from './define-any-hook.ts';
import type { HookFacts } from './hook-facts.ts';
import { HookFailedError } from './hook-failed-error.ts';
import { handlerNames } from './hook-point.ts';

/** Points at which a guard can be asked. */
export type GuardPoint = 'execution_start' | 'before_step' | 'after_step';

/** Options of a guard as a hook. */
export interface GuardHookOptions {
  /** The source of its votes. @default the guard's own name */
  readonly name?: string;
  /** Points at which it is asked: `before_step` keeps a step from starting, `after_step` judges it. @default ['after_step'] */
  readonly at?: readonly GuardPoint[];
  /** Order among the hooks at a start and before a step; a step is judged after all hooks. @default 1000 */
  readonly order?: number;
}

const guardPoints: readonly GuardPoint[] = ['execution_start', 'before_step', 'after_step'];

/** Turns the guard into a criterion with the hook's name that is asked about steps only. */
function asCriterion<State extends RunState>(guard: ContinuationCriterion<State>, name: string): ContinuationCriterion<State> {
  const alone = ContinuationCriteria.from(guard);
  const atStart = ContinuationEvaluation.fromDecision(name, ContinuationDecision.AllowContinuation);
  return {
    name,
    explain: (state, findings = {}) => {
      // A first start is not a step. A start judged again after a grant counts as one, and so does a step with a nested run.
      if (state.execution.judgedStep === undefined && findings.workLeft === undefined) return atStart;
      try {
        const [evaluation = atStart] = alone.evaluate(state, { ...findings, evaluations: [] }).evaluations;
        return { ...evaluation, criterion: name, context: { point: 'after_step', ...evaluation.context } };
      } catch (error) {
        throw new HookFailedError({ hook: name, point: 'after_step' }, classifyError(error).message, error);
      }
    },
    ...(guard.remainingMs !== undefined && { remainingMs: (state: State, findings?: Findings) => alone.remainingMs(state, findings) }),
  };
}

/**
 * Turns a guard into a hook with the same rule as a criterion. After a step it answers in the judgement itself, and sees all that
 * other hooks did and spent. Before a step and at a start its answer is a vote.
 */
export function guardHook<State extends RunState>(
  guard: ContinuationCriterion<State>,
  options: GuardHookOptions = {},
): Hook<State, unknown> {
  checkKeys('guardHook()', options, ['name', 'at', 'order']);
  const { name = guard.name, at = ['after_step'], order = 1000 } = options;
  const strange = at.find((point) => !guardPoints.includes(point));
  if (strange !== undefined || at.length === 0)
    throw new InvalidArgumentError(
      `guardHook(): at must be a list of any of ${guardPoints.join(', ')}, not ${strange === undefined ? 'an empty list' : describeValue(strange)}.`,
    );
  const criteria = ContinuationCriteria.from(guard);
  const ask = ({ state, clock }: HookFacts<State, unknown>): { readonly votes: readonly ContinuationEvaluation[] } => {
    const workLeft = state.execution.results.isEmpty ? undefined : true;
    return { votes: criteria.evaluate(state, { now: getJudgingTime(state.execution, clock), workLeft }).evaluations };
  };
  const handlers = Object.fromEntries(at.map((point) => [handlerNames[point], ask]));
  const hook = defineAnyHook<readonly ['votes'], unknown, State>({ name, order, changes: ['votes'], ...handlers });
  const { after_step: _, ...before } = hook.handlers;
  const guarding = Object.freeze({ ...hook, handlers: Object.freeze(before) });
  const withName = (named: string): Hook<State, unknown> =>
    Object.freeze({
      ...guarding,
      name: named,
      withName,
      ...(at.includes('after_step') && { guard: asCriterion(guard, named) }),
      // Holds: the loop asks only with states of the kind that it runs.
      ...(guard.remainingMs !== undefined && {
        remainingMs: (state: RunState, findings?: Findings) => criteria.remainingMs(state as State, findings),
        evaluateTime: (state: RunState, findings: Findings = {}) => {
          const [evaluation] = criteria.evaluate(state as State, { ...findings, evaluations: [] }).evaluations;
          return evaluation && { ...evaluation, criterion: named };
        },
      }),
    });
  return withName(name);
}
