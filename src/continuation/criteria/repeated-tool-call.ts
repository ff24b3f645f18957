import type { Json } from '../../lib/index.ts';
import { describeValue, InvalidArgumentError, stableStringify } from '../../lib/index.ts';
import type { CriterionOptions } from '../built-in-criterion.ts';
import { BuiltInCriterion } from '../built-in-criterion.ts';
import { ContinuationDecision } from '../continuation-decision.ts';
import type { ContinuationEvaluation } from '../continuation-evaluation.ts';
import { StopReason } from '../stop-reason.ts';

/** As much of a call as tells whether it is the same one again. */
export interface RepeatableCall {
  readonly name: string;
  readonly args: Json;
}

/** Forbids when the same tool was called with the same arguments in that many steps in a row. */
export class RepeatedToolCall<State> extends BuiltInCriterion<State> {
  readonly maxRepeats: number;
  readonly #recentCalls: (state: State, steps: number) => readonly (readonly RepeatableCall[])[];

  /** `recentCalls` gives the calls of each of the last `steps` steps, as many as there are. */
  constructor(
    maxRepeats: number,
    recentCalls: (state: State, steps: number) => readonly (readonly RepeatableCall[])[],
    options: CriterionOptions = {},
  ) {
    super('RepeatedToolCall', options);
    if (!Number.isInteger(maxRepeats) || maxRepeats < 2) {
      throw new InvalidArgumentError(`maxRepeats must be a whole number of 2 or more, not ${describeValue(maxRepeats)}.`);
    }
    this.maxRepeats = maxRepeats;
    this.#recentCalls = recentCalls;
  }

  override explain(state: State): ContinuationEvaluation {
    const { name: criterion, maxRepeats } = this;
    const repeated = this.#findRepeated(state);
    if (repeated === undefined) {
      const reason = `no tool was called with the same arguments in ${maxRepeats} steps in a row`;
      return { criterion, decision: ContinuationDecision.AllowContinuation, reason, context: { maxRepeats } };
    }
    return {
      criterion,
      decision: ContinuationDecision.ForbidContinuation,
      reason: `${repeated.name} was called with the same arguments in ${maxRepeats} steps in a row`,
      stopReason: StopReason.GuardForbade,
      context: { maxRepeats, tool: repeated.name, args: repeated.args },
    };
  }

  #findRepeated(state: State): RepeatableCall | undefined {
    const steps = this.#recentCalls(state, this.maxRepeats);
    const [first = [], ...rest] = steps;
    if (steps.length < this.maxRepeats || first.length === 0) return undefined;
    const others = rest.map((calls) => new Set(calls.map(signature)));
    return first.find((call) => others.every((calls) => calls.has(signature(call))));
  }
}

const signature = ({ name, args }: RepeatableCall): string => `${name} ${stableStringify(args)}`;
