import type { CanResolveErrorContext } from './error-context.ts';
import { ErrorContext } from './error-context.ts';
import { ErrorHandlingDecision } from './error-handling-decision.ts';
import type { Failure } from './failure.ts';

/** A recorded step, as far as failures are counted by it. */
interface CountedStep {
  readonly timing: { readonly endedAt: number };
  readonly handling?: { readonly decision: ErrorHandlingDecision; readonly consecutiveFailures: number; readonly totalFailures: number };
}

/** A state whose failures can be read: any state of the loop. */
export interface FailureState {
  readonly currentStep?: { readonly errors: readonly Failure[] } | undefined;
  readonly info: { readonly updatedAt: number };
  readonly execution: {
    readonly results: { readonly last: CountedStep | undefined; at(index: number): CountedStep | undefined };
    readonly judgedStep?: unknown;
    readonly failedSteps: number;
    readonly outage?: { readonly spanMs?: number | undefined } | undefined;
  };
}

/** Facts about the failures in a row, up to the step being judged or the last one recorded. */
type FailureCounts = Pick<ErrorContext, 'consecutiveFailures' | 'totalFailures' | 'failureSpanMs'>;

// Only an unbroken run of failures that were handled by retry counts; an ignored one restarts the count.
function countFailures({ execution, info }: FailureState, now: number = info.updatedAt): FailureCounts {
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
export class AgentErrorContextResolver implements CanResolveErrorContext<FailureState> {
  resolve(
    state: FailureState,
    { remainingMs, now }: { readonly remainingMs?: number | undefined; readonly now?: number | undefined } = {},
  ): ErrorContext | readonly ErrorContext[] {
    const errors = state.currentStep?.errors ?? [];
    if (errors.length === 0) return ErrorContext.none();
    const counts = countFailures(state, now);
    const time = remainingMs === undefined ? {} : { remainingMs };
    return errors.map((failure: Failure) => ({ ...failure, ...counts, ...time }));
  }
}
