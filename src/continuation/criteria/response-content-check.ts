import { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import type { ExplainingCriterion } from '../criterion.ts';

/** Requests another step while the last response satisfies the predicate; lets go when it does not. */
export class ResponseContentCheck<State, Response> implements ExplainingCriterion<State> {
  readonly name = 'ResponseContentCheck';
  readonly #response: (state: State) => Response | null | undefined;
  readonly #goesOn: (response: Response) => boolean;

  constructor(response: (state: State) => Response | null | undefined, goesOn: (response: Response) => boolean) {
    this.#response = response;
    this.#goesOn = goesOn;
  }

  decide(state: State): ContinuationDecision {
    return this.explain(state).decision;
  }

  explain(state: State): ContinuationEvaluation {
    const criterion = this.name;
    const response = this.#response(state);
    if (response === null || response === undefined) {
      const context = { hasResponse: false, shouldContinue: true };
      return { criterion, decision: ContinuationDecision.AllowContinuation, reason: 'there is no response yet', context };
    }
    const shouldContinue = this.#goesOn(response);
    return {
      criterion,
      decision: shouldContinue ? ContinuationDecision.RequestContinuation : ContinuationDecision.AllowStop,
      reason: shouldContinue ? 'the response asks to go on' : 'the response lets go',
      context: { hasResponse: true, shouldContinue },
    };
  }
}
