// What is noted while a step is open, beside the step itself.
// Owns:     evaluations, what was spent, and changes to the conversation and the metadata, until they stand on the candidate.
// Does not: decide anything, or outlive its step.
// O1. What was noted is kept whatever becomes of the step: whole, failed, cut off or parked.
// O2. Each amount joins the step exactly once, and each evaluation its judgement.
import type { ContinuationEvaluation } from '../continuation/index.ts';
import { ContinuationDecision } from '../continuation/index.ts';
import type { JsonObject } from '../lib/index.ts';
import type { MessageStore } from '../messages/index.ts';
import { Usage } from '../messages/index.ts';
import type { Cost, Step } from './step.ts';
import { addCost } from './step.ts';

/** Something to keep beside the step. */
export interface StepNote {
  /** Judged together with this step. */
  readonly evaluations?: readonly ContinuationEvaluation[];
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
  #evaluations: readonly ContinuationEvaluation[] = [];
  #usage: Usage = Usage.none();
  #cost: Cost | undefined;
  #metadata: JsonObject | undefined;
  #store: MessageStore | undefined;
  #forbidding: ContinuationEvaluation | undefined;

  add({ evaluations, usage, cost, metadata, store }: StepNote): void {
    if (evaluations !== undefined) {
      this.#evaluations = [...this.#evaluations, ...evaluations];
      this.#forbidding ??= evaluations.find(({ decision }) => decision === ContinuationDecision.ForbidContinuation);
    }
    if (usage !== undefined) this.#usage = Usage.add(this.#usage, usage);
    if (cost !== undefined) this.#cost = addCost(this.#cost, cost);
    if (metadata !== undefined) this.#metadata = { ...this.#metadata, ...metadata };
    if (store !== undefined) this.#store = store;
  }

  /** The first evaluation that forbids continuation. */
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
  get evaluations(): readonly ContinuationEvaluation[] {
    return this.#evaluations;
  }

  /** The metadata with what was laid over it. */
  over(metadata: JsonObject): JsonObject {
    return this.#metadata === undefined ? metadata : Object.freeze({ ...metadata, ...this.#metadata });
  }

  /** The step with what was noted since this was last asked. */
  joinTo<S extends Step>(step: S): S {
    const [usage, cost] = [this.#usage, this.#cost];
    this.#usage = Usage.none();
    this.#cost = undefined;
    const total = addCost(step.cost, cost);
    return { ...step, usage: Usage.add(step.usage, usage), ...(total !== undefined && { cost: total }) };
  }
}
