import { classifyError } from '../errors/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { DamagedDataError, readObject } from '../lib/index.ts';
import { ContinuationDecision } from './continuation-decision.ts';
import type { LimitKind } from './continuation-evaluation.ts';
import { ContinuationEvaluation } from './continuation-evaluation.ts';
import { CriterionFailedError } from './criterion-failed-error.ts';
import type { ExplainOptions } from './explain-outcome.ts';
import { explainOutcome } from './explain-outcome.ts';
import { StopReason } from './stop-reason.ts';

const { ForbidContinuation, RequestContinuation, AllowStop } = ContinuationDecision;

/** Who is named when no single criterion was decisive. */
const aggregate = 'aggregate';
/** Who is named when there was nobody to ask, or asking failed. */
const collection = 'ContinuationCriteria';

interface OutcomeFields {
  readonly decision: ContinuationDecision;
  readonly shouldContinue: boolean;
  readonly resolvedBy: string;
  readonly stopReason: StopReason;
  readonly evaluations: readonly ContinuationEvaluation[];
}

/** What was decided about going on, by whom, and everybody's answer. */
export class ContinuationOutcome {
  readonly decision: ContinuationDecision;
  readonly shouldContinue: boolean;
  /** The criterion that settled it; `aggregate` where all merely allowed. */
  readonly resolvedBy: string;
  /** Means something only where `shouldContinue` is false; `completed` otherwise. */
  readonly stopReason: StopReason;
  /** One per criterion, in the order of the criteria, then the votes cast before judging. */
  readonly evaluations: readonly ContinuationEvaluation[];

  private constructor(fields: OutcomeFields) {
    this.decision = fields.decision;
    this.shouldContinue = fields.shouldContinue;
    this.resolvedBy = fields.resolvedBy;
    this.stopReason = fields.stopReason;
    this.evaluations = Object.freeze(fields.evaluations);
    Object.freeze(this);
  }

  /** Resolves everybody's answers by the truth table. The first to forbid, request or let go, in that rank, is named. */
  static fromEvaluations(given: readonly ContinuationEvaluation[]): ContinuationOutcome {
    return ContinuationOutcome.fromOwn([...given]);
  }

  /** @internal The same for a list that nobody else holds: it is frozen as it is. */
  static fromOwn(evaluations: readonly ContinuationEvaluation[]): ContinuationOutcome {
    let forbidding: ContinuationEvaluation | undefined;
    let requesting: ContinuationEvaluation | undefined;
    let stopping: ContinuationEvaluation | undefined;
    for (const evaluation of evaluations) {
      if (evaluation.decision === ForbidContinuation) forbidding ??= evaluation;
      else if (evaluation.decision === RequestContinuation) requesting ??= evaluation;
      else if (evaluation.decision === AllowStop) stopping ??= evaluation;
    }
    if (forbidding !== undefined) return stop(ForbidContinuation, forbidding, evaluations);
    if (requesting !== undefined) return goOn(requesting.criterion, evaluations);
    if (stopping !== undefined) return stop(AllowStop, stopping, evaluations);
    if (evaluations.length > 0) return goOn(aggregate, evaluations);
    return ContinuationOutcome.of({
      decision: AllowStop,
      shouldContinue: false,
      resolvedBy: collection,
      stopReason: StopReason.Completed,
      evaluations,
    });
  }

  /** The outcome of having nobody to ask: stop. */
  static empty(): ContinuationOutcome {
    return ContinuationOutcome.fromEvaluations([]);
  }

  /** The outcome when judging itself failed: stop with `error`, and say which criterion it was. */
  static fromEvaluationError(error: unknown): ContinuationOutcome {
    const name = error instanceof Error ? error.name : typeof error;
    const { message } = classifyError(error);
    const criterion = error instanceof CriterionFailedError ? { criterion: error.criterion } : {};
    return ContinuationOutcome.fromEvaluations([
      {
        criterion: collection,
        decision: ForbidContinuation,
        reason: `Evaluation failed: ${message}`,
        stopReason: StopReason.ErrorForbade,
        context: { ...criterion, error: name, message },
      },
    ]);
  }

  static fromJSON(input: unknown, path = 'outcome'): ContinuationOutcome {
    const data = readObject(input, path);
    const decision = data.oneOf('decision', Object.values(ContinuationDecision));
    const shouldContinue = data.boolean('shouldContinue');
    if (shouldContinue !== (decision === RequestContinuation)) {
      throw new DamagedDataError(path, `decision "${decision}" and shouldContinue ${String(shouldContinue)} contradict each other`);
    }
    return ContinuationOutcome.of({
      decision,
      shouldContinue,
      resolvedBy: data.string('resolvedBy'),
      stopReason: data.oneOf('stopReason', Object.values(StopReason)),
      evaluations: data.array('evaluations', ContinuationEvaluation.fromJSON),
    });
  }

  /** @internal Outcomes come from evaluations or from storage. */
  static of(fields: OutcomeFields): ContinuationOutcome {
    return new ContinuationOutcome(fields);
  }

  get isForbidden(): boolean {
    return this.decision === ForbidContinuation;
  }

  /** The first answer of the criterion with this name. */
  getEvaluationFor(criterion: string): ContinuationEvaluation | undefined {
    return this.evaluations.find((evaluation) => evaluation.criterion === criterion);
  }

  /** The name of the first criterion that forbade. */
  getForbiddingCriterion(): string | undefined {
    return this.evaluations.find(({ decision }) => decision === ForbidContinuation)?.criterion;
  }

  /** True where limits forbade, and nothing but limits, and nobody asked for more. */
  get isOnlyLimited(): boolean {
    const speaksAgainst = ({ decision, limit }: ContinuationEvaluation): boolean =>
      decision === RequestContinuation || (decision === ForbidContinuation && limit === undefined);
    return this.isForbidden && !this.evaluations.some(speaksAgainst);
  }

  /** True where only limits forbade and the work was done anyway: nobody asked for more, somebody let go. */
  get finishedAtLimit(): boolean {
    return this.isOnlyLimited && this.evaluations.some(({ decision }) => decision === AllowStop);
  }

  /** True where a limit was reached and the next step is to sum up. */
  get isFinalizing(): boolean {
    if (!this.shouldContinue) return false;
    for (const { limit, context } of this.evaluations) if (limit !== undefined && context['finalizing'] === true) return true;
    return false;
  }

  /** The limits that wait for somebody to grant more; empty where anybody else forbade too. */
  get awaitedGrants(): readonly LimitKind[] {
    if (!this.isForbidden) return [];
    const forbidding = this.evaluations.filter(({ decision }) => decision === ForbidContinuation);
    const limits = forbidding.flatMap(({ limit, context }) => (limit !== undefined && context['pausing'] === true ? [limit] : []));
    return limits.length === forbidding.length ? limits : [];
  }

  /** A few lines for a person: what was decided, by whom, with which numbers, and who thought otherwise. */
  explain(options: ExplainOptions = {}): string {
    return explainOutcome(this, options);
  }

  toJSON(): JsonObject & { readonly stopReason: StopReason; readonly resolvedBy: string } {
    return {
      decision: this.decision,
      shouldContinue: this.shouldContinue,
      resolvedBy: this.resolvedBy,
      stopReason: this.stopReason,
      evaluations: this.evaluations.map(({ criterion, decision, reason, stopReason, limit, context }) => ({
        criterion,
        decision,
        reason,
        ...(stopReason !== undefined && { stopReason }),
        ...(limit !== undefined && { limit }),
        context,
      })),
    };
  }
}

function goOn(resolvedBy: string, evaluations: readonly ContinuationEvaluation[]): ContinuationOutcome {
  const stopReason = StopReason.Completed;
  return ContinuationOutcome.of({ decision: RequestContinuation, shouldContinue: true, resolvedBy, stopReason, evaluations });
}

function stop(
  decision: typeof ForbidContinuation | typeof AllowStop,
  decisive: ContinuationEvaluation,
  evaluations: readonly ContinuationEvaluation[],
): ContinuationOutcome {
  const stopReason = decision === AllowStop ? StopReason.Completed : (decisive.stopReason ?? StopReason.GuardForbade);
  return ContinuationOutcome.of({ decision, shouldContinue: false, resolvedBy: decisive.criterion, stopReason, evaluations });
}
