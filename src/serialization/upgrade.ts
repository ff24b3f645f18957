import type { JsonObject } from '../lib/index.ts';
import { DamagedDataError, readJsonObject } from '../lib/index.ts';
import type { OpenedEnvelope } from './envelope.ts';

/** Rewrites the data of one schema as data of the next or of the previous one. */
export type Rewrite = (data: JsonObject) => JsonObject;

/** From schema n to n + 1, for each n that may still be found. */
export type Upgrades = Readonly<Record<number, Rewrite>>;

/** Brings data up to `version`, one schema at a time; works on a copy, so what was read stays as it is. */
export function upgradeData({ schema, data }: OpenedEnvelope, version: number, upgrades: Upgrades): Readonly<Record<string, unknown>> {
  if (schema === version) return data;
  let current = structuredClone(readJsonObject(data, 'data'));
  for (let from = schema; from < version; from += 1) {
    const upgrade = Object.hasOwn(upgrades, from) ? upgrades[from] : undefined;
    if (upgrade === undefined) throw new DamagedDataError('schema', `there is no way from schema ${String(from)} to ${String(from + 1)}`);
    current = upgrade(current);
  }
  return current;
}
