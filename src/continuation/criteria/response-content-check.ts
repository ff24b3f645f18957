import type { CriterionOptions } from '../built-in-criterion.ts';
import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';

/** Requests another step while the last response satisfies the predicate; allows a stop when it does not. */
export class ResponseContentCheck<State, Response> extends BuiltInCriterion<State> {
  readonly #response: (state: State) => Response | null | undefined;
  readonly #goesOn: (response: Response) => boolean;

  constructor(
    response: (state: State) => Response | null | undefined,
    goesOn: (response: Response) => boolean,
    options: CriterionOptions = {},
  ) {
    super('ResponseContentCheck', options);
    this.#response = response;
    this.#goesOn = goesOn;
  }

  override explain(state: State): ContinuationEvaluation {
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
      reason: shouldContinue ? 'the response asks for another step' : 'the response asks for no further step',
      context: { hasResponse: true, shouldContinue },
    };
  }
}
