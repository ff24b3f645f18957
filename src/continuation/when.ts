import type { JsonObject } from '../lib/index.ts';
import { isRecord } from '../lib/index.ts';
import { ContinuationDecision } from './continuation-decision.ts';
import { ContinuationEvaluation, createEvaluation } from './continuation-evaluation.ts';
import type { CanExplainContinuation } from './criterion.ts';
import { CriterionFailedError } from './criterion-failed-error.ts';
import { parseDecision, describeAnswer } from './evaluate-criterion.ts';
import { StopReason } from './stop-reason.ts';

/** A decision with an optional explanation. */
export interface ExplainedDecision {
  readonly decision: ContinuationDecision;
  readonly reason?: string;
  readonly stopReason?: StopReason;
  readonly context?: JsonObject;
}

const isExplained = (answer: unknown): answer is ExplainedDecision => isRecord(answer) && 'decision' in answer;

/** Makes a criterion of a function from state to decision. */
export function when<State>(
  name: string,
  decide: (state: State) => ContinuationDecision | ExplainedDecision,
): CanExplainContinuation<State> {
  return {
    name,
    explain: (state) => {
      const answer = decide(state);
      if (!isExplained(answer)) return ContinuationEvaluation.fromDecision(name, parseDecision(name, answer));
      const { reason, stopReason, context } = answer;
      const decision = parseDecision(name, answer.decision);
      return createEvaluation({ criterion: name, decision, reason, stopReason, context });
    },
  };
}

/** Makes a guard of a function that returns the reason to stop in words, or false to continue. */
export function stopWhen<State>(name: string, reasonToStop: (state: State) => string | false | undefined): CanExplainContinuation<State> {
  return {
    name,
    explain: (state) => {
      const reason: unknown = reasonToStop(state);
      if (reason === false || reason === undefined) {
        return ContinuationEvaluation.fromDecision(name, ContinuationDecision.AllowContinuation);
      }
      if (typeof reason !== 'string' || reason === '') {
        throw new CriterionFailedError(
          name,
          `it returned ${describeAnswer(reason)}. Return a string that says why to stop, or false to continue.`,
        );
      }
      return {
        criterion: name,
        decision: ContinuationDecision.ForbidContinuation,
        reason,
        stopReason: StopReason.GuardForbade,
        context: {},
      };
    },
  };
}
