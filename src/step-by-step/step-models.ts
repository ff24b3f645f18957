import type { Failure } from '../errors/index.ts';
import type { CoolDowns, ModelRoute, RefusedPart } from '../inference/index.ts';

/** Models that failed lately and attachments that they refused, as the outermost run knows them. */
export interface StepModels {
  /** Models that are skipped for a while, by name; undefined if there are none. */
  readonly coolDowns: CoolDowns | undefined;
  /** Adds the models that failed on the way to an answer, and removes the one that answered. */
  record(route: ModelRoute): void;
  /** Attachments that no request has any more; undefined if there are none. */
  readonly refusedParts: readonly RefusedPart[] | undefined;
  /** Adds the attachments that a failure names. */
  recordRefused(failure: Failure): void;
  /** Returns the number of processes that share the limits of models; undefined if nobody shares them. */
  readonly sharedBy: (() => number) | undefined;
}
