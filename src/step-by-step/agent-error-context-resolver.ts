import type { CanResolveErrorContext, Failure } from '../errors/index.ts';
import { ErrorContext, ErrorHandlingDecision } from '../errors/index.ts';
import type { RunState } from './run-state.ts';

// Only an unbroken run of failures that were handled by retry counts; an ignored one restarts the count.
function countFailures({ execution }: RunState): Pick<ErrorContext, 'consecutiveFailures' | 'totalFailures'> {
  const last = execution.results.last?.handling;
  if (execution.judgedStep === undefined) return last ?? { consecutiveFailures: 1, totalFailures: execution.failedSteps };
  const before = last?.decision === ErrorHandlingDecision.Retry ? last.consecutiveFailures : 0;
  return { consecutiveFailures: before + 1, totalFailures: execution.failedSteps + 1 };
}

/** Reads failures from any state of the loop: those of the step being judged, else of the last one recorded. */
export class AgentErrorContextResolver implements CanResolveErrorContext<RunState> {
  resolve(state: RunState, { remainingMs }: { readonly remainingMs?: number | undefined } = {}): ErrorContext | readonly ErrorContext[] {
    const errors = state.currentStep?.errors ?? [];
    if (errors.length === 0) return ErrorContext.none();
    const { consecutiveFailures, totalFailures } = countFailures(state);
    const time = remainingMs === undefined ? {} : { remainingMs };
    return errors.map((failure: Failure) => ({ ...failure, consecutiveFailures, totalFailures, ...time }));
  }
}
