import { ContinuationDecision } from './continuation-decision.ts';
import type { ContinuationEvaluation } from './continuation-evaluation.ts';
import { StopReason } from './stop-reason.ts';

const { ForbidContinuation, RequestContinuation, AllowStop } = ContinuationDecision;

/** Named if no single criterion was decisive. */
const aggregate = 'aggregate';
/** Named if there was no criterion to ask, or if asking failed. */
export const collection = 'ContinuationCriteria';

/** Decision that evaluations add up to, and the criterion that made it. */
export interface Resolution {
  readonly decision: ContinuationDecision;
  readonly resolvedBy: string;
  readonly stopReason?: StopReason | undefined;
}

/**
 * Resolves evaluations by the truth table. The first one to forbid, request or allow a stop, in that rank, is named. An undefined one
 * stands for a limit that was not reached, which allows.
 */
export function resolveEvaluations(evaluations: readonly (ContinuationEvaluation | undefined)[]): Resolution {
  let forbidding: ContinuationEvaluation | undefined;
  let requesting: ContinuationEvaluation | undefined;
  let stopping: ContinuationEvaluation | undefined;
  for (const evaluation of evaluations) {
    if (evaluation?.decision === ForbidContinuation) forbidding ??= evaluation;
    else if (evaluation?.decision === RequestContinuation) requesting ??= evaluation;
    else if (evaluation?.decision === AllowStop) stopping ??= evaluation;
  }
  if (forbidding !== undefined) {
    const { criterion: resolvedBy, stopReason = StopReason.GuardForbade } = forbidding;
    return { decision: ForbidContinuation, resolvedBy, stopReason };
  }
  if (requesting !== undefined || (stopping === undefined && evaluations.length > 0))
    return { decision: RequestContinuation, resolvedBy: requesting?.criterion ?? aggregate };
  return { decision: AllowStop, resolvedBy: stopping?.criterion ?? collection, stopReason: StopReason.Completed };
}

/** Parts of an outcome that say which evaluation decided. */
interface Decided<Evaluation> {
  readonly decision: string;
  readonly resolvedBy: string;
  readonly evaluations: readonly Evaluation[];
}

/** Finds the evaluation that decided an outcome, or its stored form; undefined if none did alone. */
export function findDecisiveEvaluation<Evaluation extends { readonly criterion: string; readonly decision: string }>({
  decision,
  resolvedBy,
  evaluations,
}: Decided<Evaluation>): Evaluation | undefined {
  const named = evaluations.filter(({ criterion }) => criterion === resolvedBy);
  return named.find((evaluation) => evaluation.decision === decision) ?? named[0];
}
