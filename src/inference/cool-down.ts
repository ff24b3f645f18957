// Models that failed while another one answered, and are skipped for a while.
// Owns:     how long a model is skipped, and in which order a row of models is asked.
// Does not: read a clock or keep anything: the caller has both.
// K1. No model is refused: one that is cooling down is asked last, and if all are, they are asked in their order.
import type { Model, ModelRoute } from './model.ts';

/** A model that failed and is skipped. */
export interface CoolDown {
  /** Failures in a row that another model covered. */
  readonly failures: number;
  /** Time at which it is asked first again, in milliseconds since the epoch. */
  readonly until: number;
}

/** Models that failed lately, by name. Plain JSON: it is stored with the state. */
export type CoolDowns = Readonly<Record<string, CoolDown>>;

/** Duration of the first cool-down; each further failure in a row doubles it. */
const firstMs = 30_000;
const longestMs = 300_000;

const toDurationMs = (failures: number): number => Math.min(longestMs, firstMs * 2 ** Math.min(failures - 1, 10));

// A clock that was set back must not lengthen a cool-down.
const isCooling = ({ until }: CoolDown, now: number): boolean => until > now && until - now <= longestMs;

/**
 * Returns the cool-downs after an answer: models that failed on the way to it are added, the one that answered is removed. A failure
 * during a cool-down does not lengthen it: several runs inside one step meet the same outage.
 */
export function applyRoute(coolDowns: CoolDowns | undefined, { failed, answered }: ModelRoute, now: number): CoolDowns | undefined {
  const next = new Map(Object.entries(coolDowns ?? {}));
  for (const name of failed) {
    const before = next.get(name);
    if (before !== undefined && isCooling(before, now)) continue;
    const failures = (before?.failures ?? 0) + 1;
    next.set(name, { failures, until: now + toDurationMs(failures) });
  }
  next.delete(answered);
  return next.size === 0 ? undefined : Object.fromEntries(next);
}

/** Lists the models that are cooling down now. */
export function listCoolingDown(coolDowns: CoolDowns | undefined, now: number): readonly string[] {
  return Object.entries(coolDowns ?? {}).flatMap(([name, coolDown]) => (isCooling(coolDown, now) ? [name] : []));
}

/** A model with its name in a row of models. */
export interface RowMember {
  /** `provider/model`; numbered if the row has it twice (`p/a#2`). */
  readonly name: string;
  readonly model: Model;
}

/** Names the models of a row. */
export function toRow(models: readonly Model[]): readonly RowMember[] {
  const counts = new Map<string, number>();
  return models.map((model) => {
    const name = `${model.provider}/${model.modelId}`;
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return { name: count === 1 ? name : `${name}#${count}`, model };
  });
}

/** Returns a row in the order in which it is asked: models that are cooling down come last. */
export function sortByCoolDown(row: readonly RowMember[], coolingDown: readonly string[] = []): readonly RowMember[] {
  const isCooling = ({ name }: RowMember): boolean => coolingDown.includes(name);
  return [...row.filter((member) => !isCooling(member)), ...row.filter(isCooling)];
}
