import type { CanExplainContinuation, ContinuationEvaluation, CriterionOptions } from '../continuation/index.ts';
import { ContinuationDecision } from '../continuation/index.ts';
import { listAll } from '../lib/index.ts';
import type { TurnState } from './turn-state.ts';

/** Requests another turn while somebody has not spoken since the last input; allows a stop when everybody has. */
export class EveryoneHasSpoken implements CanExplainContinuation<TurnState> {
  readonly name: string;
  readonly #participants: readonly string[];

  constructor(participants: readonly string[], { name = 'EveryoneHasSpoken' }: CriterionOptions = {}) {
    this.name = name;
    this.#participants = participants;
  }

  /** Lists those who have not spoken yet. */
  listSilent({ spokenSinceInput }: TurnState): readonly string[] {
    return this.#participants.filter((name) => !spokenSinceInput.has(name));
  }

  /** True while somebody has not spoken. */
  isOpen(state: TurnState): boolean {
    return this.listSilent(state).length > 0;
  }

  explain(state: TurnState): ContinuationEvaluation {
    const silent = this.listSilent(state);
    const context = { participants: this.#participants.length, silent: silent.length };
    const { name: criterion } = this;
    if (silent.length === 0)
      return { criterion, decision: ContinuationDecision.AllowStop, reason: 'everyone has spoken since the last input', context };
    const reason = `${listAll(silent)} ${silent.length === 1 ? 'has' : 'have'} not spoken since the last input`;
    return { criterion, decision: ContinuationDecision.RequestContinuation, reason, context };
  }
}
