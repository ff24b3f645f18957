import type { ContinuationOutcome } from '../../continuation/index.ts';
import { ContinuationDecision, LimitKind, StopReason } from '../../continuation/index.ts';
import type { ReadValue } from '../../lib/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import { array, boolean, createReader, nullable, oneOf, optional, optionalString, string } from './field-readers.ts';
import type { FieldReader } from './field-readers.ts';
import type { SlimWriter } from './slim-writer.ts';

export interface SlimEvaluation {
  readonly criterion: string;
  readonly decision: ContinuationDecision;
  readonly reason: string;
  readonly stop_reason?: StopReason;
  readonly limit?: LimitKind;
}

const readEvaluation = createReader<SlimEvaluation>({
  criterion: string,
  decision: oneOf(ContinuationDecision),
  reason: string,
  stop_reason: optional(oneOf(StopReason)),
  limit: optional(oneOf(LimitKind)),
});

export const evaluations: FieldReader<readonly SlimEvaluation[] | undefined> = optional(array(readEvaluation));

export interface SlimContinuation {
  readonly should_continue: boolean;
  /** Null if the run continues. */
  readonly stop_reason: StopReason | null;
  readonly resolved_by: string;
  readonly decision: ContinuationDecision;
  /** Reason given by the criterion that decided. */
  readonly reason?: string;
  readonly evaluations?: readonly SlimEvaluation[];
}

export const readContinuation: ReadValue<SlimContinuation> = createReader<SlimContinuation>({
  should_continue: boolean,
  stop_reason: nullable(oneOf(StopReason)),
  resolved_by: string,
  decision: oneOf(ContinuationDecision),
  reason: optionalString,
  evaluations,
});

/** The last decision: continue or stop, and the rule that decided. */
export type SlimContinuationSummary = Pick<SlimContinuation, 'should_continue' | 'stop_reason' | 'resolved_by'>;

export const readContinuationSummary: ReadValue<SlimContinuationSummary> = createReader<SlimContinuationSummary>({
  should_continue: boolean,
  stop_reason: nullable(oneOf(StopReason)),
  resolved_by: string,
});

// Without the context of the evaluations: that may hold the arguments of calls, and the reason has the numbers.
export function writeTrace(outcome: ContinuationOutcome, writer: SlimWriter): Pick<SlimContinuation, 'evaluations'> {
  if (!writer.config.includeContinuationTrace) return {};
  return {
    evaluations: outcome.evaluations.map(({ criterion, decision, reason, stopReason, limit }) =>
      omitUndefined({
        criterion: writer.writeName(criterion),
        decision,
        reason: writer.writeText(reason),
        stop_reason: stopReason,
        limit,
      }),
    ),
  };
}

export function writeContinuation(outcome: ContinuationOutcome, writer: SlimWriter): SlimContinuation {
  const { shouldContinue, stopReason, resolvedBy, decision } = outcome;
  const deciding = outcome.evaluations.find((evaluation) => evaluation.criterion === resolvedBy && evaluation.decision === decision);
  return {
    should_continue: shouldContinue,
    stop_reason: shouldContinue ? null : stopReason,
    resolved_by: writer.writeName(resolvedBy),
    decision,
    ...(deciding !== undefined && { reason: writer.writeText(deciding.reason) }),
    ...writeTrace(outcome, writer),
  };
}
