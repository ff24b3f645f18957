import type { CoolDowns, ModelRoute } from '../inference/index.ts';

/** Models that failed lately, as the outermost run knows them. */
export interface StepModels {
  /** Models that are skipped for a while, by name; undefined if there are none. */
  readonly coolDowns: CoolDowns | undefined;
  /** Adds the models that failed on the way to an answer, and removes the one that answered. */
  record(route: ModelRoute): void;
}
