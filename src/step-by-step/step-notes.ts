// What is noted while a step is open, beside the step itself.
// Owns:     votes, what was spent, and changes to the conversation and the metadata, until they stand on the candidate.
// Does not: decide anything, or outlive its step.
// O1. What was noted is kept whatever becomes of the step: whole, failed, cut off or parked.
// O2. Each vote and each amount joins the step exactly once.
import type { ContinuationEvaluation } from '../continuation/index.ts';
import { ContinuationDecision } from '../continuation/index.ts';
import type { JsonObject } from '../lib/index.ts';
import type { MessageStore } from '../messages/index.ts';
import { Usage } from '../messages/index.ts';
import type { Cost, Step } from './step.ts';
import { addCost } from './step.ts';

/** Something to keep beside the step. */
export interface StepNote {
  /** They join the judgement of this step. */
  readonly votes?: readonly ContinuationEvaluation[];
  /** What was spent beside what the step itself says. */
  readonly usage?: Usage;
  readonly cost?: Cost | undefined;
  /** Laid over what the state has. */
  readonly metadata?: JsonObject;
  /** The conversation as it shall be before the step's own messages. */
  readonly store?: MessageStore;
}

/** The notes of one step. */
export class StepNotes {
  #votes: readonly ContinuationEvaluation[] = [];
  #usage: Usage = Usage.none();
  #cost: Cost | undefined;
  #metadata: JsonObject | undefined;
  #store: MessageStore | undefined;
  #forbidding: ContinuationEvaluation | undefined;

  add({ votes, usage, cost, metadata, store }: StepNote): void {
    if (votes !== undefined) {
      this.#votes = [...this.#votes, ...votes];
      this.#forbidding ??= votes.find(({ decision }) => decision === ContinuationDecision.ForbidContinuation);
    }
    if (usage !== undefined) this.#usage = Usage.add(this.#usage, usage);
    if (cost !== undefined) this.#cost = addCost(this.#cost, cost);
    if (metadata !== undefined) this.#metadata = { ...this.#metadata, ...metadata };
    if (store !== undefined) this.#store = store;
  }

  /** The first vote against going on. */
  get forbidding(): ContinuationEvaluation | undefined {
    return this.#forbidding;
  }
  get store(): MessageStore | undefined {
    return this.#store;
  }
  get usage(): Usage {
    return this.#usage;
  }
  get cost(): Cost | undefined {
    return this.#cost;
  }
  get votes(): readonly ContinuationEvaluation[] {
    return this.#votes;
  }

  /** The metadata with what was laid over it. */
  over(metadata: JsonObject): JsonObject {
    return this.#metadata === undefined ? metadata : Object.freeze({ ...metadata, ...this.#metadata });
  }

  /** The step with what was noted since this was last asked. */
  joinTo<S extends Step>(step: S): S {
    const [votes, usage, cost] = [this.#votes, this.#usage, this.#cost];
    this.#votes = [];
    this.#usage = Usage.none();
    this.#cost = undefined;
    const total = addCost(step.cost, cost);
    return {
      ...step,
      usage: Usage.add(step.usage, usage),
      ...(total !== undefined && { cost: total }),
      ...(votes.length > 0 && { evaluations: [...(step.evaluations ?? []), ...votes] }),
    };
  }
}
