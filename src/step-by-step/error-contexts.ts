import type { ErrorContext, ErrorContextResolver, Failure } from '../errors/index.ts';
import { ErrorContext as ErrorContexts, ErrorHandlingDecision } from '../errors/index.ts';
import type { RunState } from './run-state.ts';

interface Counts {
  readonly consecutiveFailures: number;
  readonly totalFailures: number;
}

// Only an unbroken run of failures that were handled by retry counts; an ignored one starts the count anew.
function countsOf({ execution }: RunState): Counts {
  const last = execution.results.last?.handling;
  if (execution.candidate === undefined) return last ?? { consecutiveFailures: 1, totalFailures: execution.failedSteps };
  const before = last?.decision === ErrorHandlingDecision.Retry ? last.consecutiveFailures : 0;
  return { consecutiveFailures: before + 1, totalFailures: execution.failedSteps + 1 };
}

/** What went wrong in the step being judged, else in the last one recorded: one context per failure. */
export function resolveErrorContexts(state: RunState): ErrorContext | readonly ErrorContext[] {
  const errors = state.currentStep?.errors ?? [];
  if (errors.length === 0) return ErrorContexts.none();
  const { consecutiveFailures, totalFailures } = countsOf(state);
  const { remainingMs } = state.execution;
  return errors.map((failure: Failure) => ({
    ...failure,
    consecutiveFailures,
    totalFailures,
    ...(remainingMs !== undefined && { remainingMs }),
  }));
}

/** Reads failures from any state of the loop. */
export const stateErrors: ErrorContextResolver<RunState> = { resolve: resolveErrorContexts };
