import type { CanResolveErrorContext, Failure } from '../errors/index.ts';
import { ErrorContext, ErrorHandlingDecision } from '../errors/index.ts';
import type { RunState } from './run-state.ts';

/** Facts about the failures in a row, up to the step being judged or the last one recorded. */
type FailureCounts = Pick<ErrorContext, 'consecutiveFailures' | 'totalFailures' | 'failureSpanMs'>;

// Only an unbroken run of failures that were handled by retry counts; an ignored one restarts the count.
function countFailures({ execution, info }: RunState, now: number = info.updatedAt): FailureCounts {
  const { results, judgedStep, failedSteps, outage } = execution;
  const last = results.last?.handling;
  const getEndTime = (stepsBack: number): number | undefined => results.at(-stepsBack)?.timing.endedAt;
  // A clock that was set back must not give a negative span.
  const toSpan = (from: number | undefined, to: number | undefined): number => Math.max(0, (to ?? 0) - (from ?? to ?? 0));
  if (judgedStep === undefined) {
    const { consecutiveFailures, totalFailures } = last ?? { consecutiveFailures: 1, totalFailures: failedSteps };
    return { consecutiveFailures, totalFailures, failureSpanMs: toSpan(getEndTime(consecutiveFailures), getEndTime(1)) };
  }
  const before = last?.decision === ErrorHandlingDecision.Retry ? last.consecutiveFailures : 0;
  const failureSpanMs = Math.max(outage?.spanMs ?? 0, before === 0 ? 0 : toSpan(getEndTime(before), now));
  return { consecutiveFailures: before + 1, totalFailures: failedSteps + 1, failureSpanMs };
}

/** Reads failures from any state of the loop: those of the step being judged, else of the last one recorded. */
export class AgentErrorContextResolver implements CanResolveErrorContext<RunState> {
  resolve(
    state: RunState,
    { remainingMs, now }: { readonly remainingMs?: number | undefined; readonly now?: number | undefined } = {},
  ): ErrorContext | readonly ErrorContext[] {
    const errors = state.currentStep?.errors ?? [];
    if (errors.length === 0) return ErrorContext.none();
    const counts = countFailures(state, now);
    const time = remainingMs === undefined ? {} : { remainingMs };
    return errors.map((failure: Failure) => ({ ...failure, ...counts, ...time }));
  }
}
