import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';

const answer = (hasToolCalls: boolean): ContinuationEvaluation =>
  Object.freeze({
    criterion: 'ToolCallPresenceCheck',
    decision: hasToolCalls ? ContinuationDecision.RequestContinuation : ContinuationDecision.AllowStop,
    reason: hasToolCalls ? 'there is work for the model to go on with' : 'no tool calls are left to go on with',
    context: Object.freeze({ hasToolCalls }),
  });
const workToDo = answer(true);
const nothingToDo = answer(false);

/** Requests another step while there are tool calls whose results the model has not read; lets go otherwise. */
export class ToolCallPresenceCheck<State> extends BuiltInCriterion<State> {
  override readonly name = 'ToolCallPresenceCheck';
  readonly #hasToolCalls: (state: State) => boolean;

  constructor(hasToolCalls: (state: State) => boolean) {
    super();
    this.#hasToolCalls = hasToolCalls;
  }

  override explain(state: State): ContinuationEvaluation {
    return this.#hasToolCalls(state) ? workToDo : nothingToDo;
  }
}
