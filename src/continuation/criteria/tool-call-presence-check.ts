import type { CriterionOptions } from '../built-in-criterion.ts';
import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';

const toEvaluation = (criterion: string, hasToolCalls: boolean): ContinuationEvaluation =>
  Object.freeze({
    criterion,
    decision: hasToolCalls ? ContinuationDecision.RequestContinuation : ContinuationDecision.AllowStop,
    reason: hasToolCalls ? 'the model has not answered yet' : 'the model called no tools',
    context: Object.freeze({ hasToolCalls }),
  });

/** Requests another step while there are tool calls whose results the model has not read; allows a stop otherwise. */
export class ToolCallPresenceCheck<State> extends BuiltInCriterion<State> {
  readonly #hasToolCalls: (state: State) => boolean;
  readonly #workLeft: ContinuationEvaluation;
  readonly #nothingLeft: ContinuationEvaluation;

  constructor(hasToolCalls: (state: State) => boolean, options: CriterionOptions = {}) {
    super('ToolCallPresenceCheck', options);
    this.#hasToolCalls = hasToolCalls;
    this.#workLeft = toEvaluation(this.name, true);
    this.#nothingLeft = toEvaluation(this.name, false);
  }

  override explain(state: State): ContinuationEvaluation {
    return this.#hasToolCalls(state) ? this.#workLeft : this.#nothingLeft;
  }
}
