import type { ContinuationCriterion } from '../continuation/index.ts';
import {
  CumulativeExecutionTimeLimit,
  ErrorPolicyCriterion,
  ExecutionTimeLimit,
  FinishReasonCheck,
  PendingRetry,
  StepsLimit,
  StopRequested,
  TokenUsageLimit,
} from '../continuation/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import { stateErrors } from './error-contexts.ts';
import type { RunState } from './run-state.ts';

/** The budgets of one execution. */
export interface Limits {
  /** @default 20 */
  readonly steps?: number;
  /** @default 32_768 */
  readonly tokens?: number;
  /** Time on the wall clock. @default 300_000, unless `activeMs` is given */
  readonly wallMs?: number;
  /** Time spent in steps. */
  readonly activeMs?: number;
}

/** What the standard criteria are made from. */
export interface StandardCriteriaOptions {
  readonly limits?: Limits;
  /** @default ErrorPolicy.stopOnAnyError() */
  readonly policy?: ErrorPolicy;
  /** Finish reasons that end the run. @default [] */
  readonly finishReasons?: readonly string[];
}

function timeLimits({ wallMs, activeMs }: Limits): readonly ContinuationCriterion<RunState>[] {
  const wall = wallMs ?? (activeMs === undefined ? 300_000 : undefined);
  return [
    ...(wall === undefined
      ? []
      : [
          new ExecutionTimeLimit<RunState>(wall / 1000, {
            startedAt: ({ execution }) => execution.wallStartedAt,
            now: ({ execution }) => execution.now,
          }),
        ]),
    ...(activeMs === undefined
      ? []
      : [new CumulativeExecutionTimeLimit<RunState>(activeMs / 1000, ({ execution }) => execution.activeMs / 1000)]),
  ];
}

/**
 * The guards that every orchestrator starts from, and the retry driver. The order decides who is named where several forbid:
 * a person first, then failures, then limits. Add a work driver, or the run goes on until a guard ends it.
 */
export function standardCriteria({
  limits = {},
  policy,
  finishReasons = [],
}: StandardCriteriaOptions = {}): readonly ContinuationCriterion<RunState>[] {
  const errors = policy ?? ErrorPolicy.stopOnAnyError();
  return [
    new StopRequested<RunState>(({ execution }) => execution.stopRequest),
    new ErrorPolicyCriterion<RunState>(errors, stateErrors),
    new StepsLimit<RunState>(limits.steps ?? 20, ({ stepCount }) => stepCount),
    new TokenUsageLimit<RunState>(limits.tokens ?? 32_768, ({ usage }) => usage),
    ...timeLimits(limits),
    new FinishReasonCheck<RunState>(finishReasons, ({ currentStep }) => currentStep?.finishReason),
    new PendingRetry<RunState>(errors, stateErrors),
  ];
}
