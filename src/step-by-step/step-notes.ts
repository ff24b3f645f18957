// Notes beside an open step.
// Owns:     evaluations, spending, and changes to the conversation and the metadata, until they are on the candidate.
// Does not: decide anything, or outlive its step.
// O1. Notes are kept however the step ends: whole, failed, interrupted or waiting.
// O2. Each amount joins the step exactly once, and each evaluation its judgement.
import type { ContinuationEvaluation } from '../continuation/index.ts';
import { ContinuationDecision } from '../continuation/index.ts';
import type { CoolDowns, RefusedPart } from '../inference/index.ts';
import type { JsonObject } from '../lib/index.ts';
import type { MessageStore } from '../messages/index.ts';
import { Usage } from '../messages/index.ts';
import type { Spent } from './outer-step.ts';
import type { Cost, Step } from './step.ts';
import { addCost } from './step.ts';
import type { StepNote, StepNotebook } from './step-scope.ts';

const noEvaluations: readonly ContinuationEvaluation[] = Object.freeze([]);

/** The notes of one step. */
export class StepNotes implements StepNotebook {
  evaluations: readonly ContinuationEvaluation[] = noEvaluations;
  usage: Usage = Usage.none();
  cost: Cost | undefined;
  store: MessageStore | undefined;
  /** Models that are skipped for a while; those of the state, unless the step has changed them. */
  coolDowns: CoolDowns | undefined;
  /** Attachments that a model refused; those of the state, and those of the step. */
  refusedParts: readonly RefusedPart[] | undefined;
  /** The first evaluation that forbids continuation. */
  forbidding: ContinuationEvaluation | undefined;
  #metadata: JsonObject | undefined;
  #isClosed = false;
  readonly #onSpend: ((spent: Spent) => void) | undefined;

  constructor(onSpend?: (spent: Spent) => void) {
    this.#onSpend = onSpend;
  }

  add({ evaluations, usage, cost, metadata, store }: StepNote): void {
    if (this.#isClosed) return;
    if (evaluations !== undefined) {
      this.evaluations = [...this.evaluations, ...evaluations];
      this.forbidding ??= evaluations.find(({ decision }) => decision === ContinuationDecision.ForbidContinuation);
    }
    if (metadata !== undefined) this.#metadata = { ...this.#metadata, ...metadata };
    if (store !== undefined) this.store = store;
    if (usage === undefined && cost === undefined) return;
    this.usage = Usage.add(this.usage, usage ?? Usage.none());
    this.cost = addCost(this.cost, cost);
    this.#onSpend?.({ usage: usage ?? Usage.none(), cost });
  }

  over(metadata: JsonObject): JsonObject {
    return this.#metadata === undefined ? metadata : Object.freeze({ ...metadata, ...this.#metadata });
  }

  /** Returns the step with the spending noted since this was last called. */
  joinTo<S extends Step>(step: S): S {
    if (Usage.isNone(this.usage) && this.cost === undefined) return step;
    const [usage, cost] = [Usage.add(step.usage, this.usage), addCost(step.cost, this.cost)];
    this.usage = Usage.none();
    this.cost = undefined;
    return { ...step, usage, ...(cost !== undefined && { cost }) };
  }

  close(): void {
    this.#isClosed = true;
  }
}
