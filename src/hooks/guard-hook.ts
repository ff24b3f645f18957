import type { ContinuationCriterion } from '../continuation/index.ts';
import { ContinuationCriteria } from '../continuation/index.ts';
import { InvalidArgumentError } from '../lib/index.ts';
import type { RunState } from '../step-by-step/index.ts';
import type { Hook } from './hook.ts';
import { defineAnyHook } from './hook.ts';
import type { HookFacts } from './hook-facts.ts';
import { handlerNames } from './hook-point.ts';

/** Points at which a guard can be asked. */
export type GuardPoint = 'execution_start' | 'before_step' | 'after_step';

/** How a guard takes part as a hook. */
export interface GuardHookOptions {
  /** The source of its votes. @default the guard's own name */
  readonly name?: string;
  /** When it is asked: `before_step` keeps a step from beginning, `after_step` judges it. @default ['after_step'] */
  readonly at?: readonly GuardPoint[];
  /** @default 1000: behind the hooks that change what it reads */
  readonly order?: number;
}

const guardPoints: readonly GuardPoint[] = ['execution_start', 'before_step', 'after_step'];

// A guard over time reads the time of judging, which the loop leaves on a candidate.
function atThisTime<State extends RunState>({ state, clock }: HookFacts<State, unknown>): State {
  return state.evolve({ execution: { ...state.execution, now: clock.now() } });
}

/** A guard as a hook: the same rule as among the criteria, asked where hooks are, with its answer as a vote. */
export function guardHook<State extends RunState>(
  guard: ContinuationCriterion<State>,
  options: GuardHookOptions = {},
): Hook<State, unknown> {
  const { name = guard.name, at = ['after_step'], order = 1000 } = options;
  const strange = at.find((point) => !guardPoints.includes(point));
  if (strange !== undefined || at.length === 0)
    throw new InvalidArgumentError(`A guard can be asked at ${guardPoints.join(', ')}, not at ${strange ?? 'no point'}.`);
  const alone = ContinuationCriteria.from(guard);
  const ask = (facts: HookFacts<State, unknown>): { readonly votes: ReturnType<typeof alone.evaluate>['evaluations'] } => ({
    votes: alone.evaluate(atThisTime(facts)).evaluations,
  });
  const handlers = Object.fromEntries(at.map((point) => [handlerNames[point], ask]));
  const hook = defineAnyHook<readonly ['votes'], unknown, State>({ name, order, changes: ['votes'], ...handlers });
  if (guard.remainingMs === undefined) return hook;
  // Holds: the loop asks only with states of the kind that it runs.
  return Object.freeze({ ...hook, remainingMs: (state: RunState) => alone.remainingMs(state as State) });
}
