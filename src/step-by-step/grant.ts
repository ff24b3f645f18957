import { InvalidArgumentError, isRecord } from '../lib/index.ts';

/** What is granted on top of the limits of one execution. Each amount is above 0. */
export interface Grant {
  readonly steps?: number;
  readonly tokens?: number;
  readonly wallMs?: number;
  readonly activeMs?: number;
  readonly costUsd?: number;
}

const budgets = ['steps', 'tokens', 'wallMs', 'activeMs', 'costUsd'] as const satisfies readonly (keyof Grant)[];
const known: ReadonlySet<string> = new Set(budgets);

/** A grant as it is stored. Refuses one that grants nothing, or what is no amount. */
export function parseGrant(given: Grant): Grant {
  if (!isRecord(given)) throw new InvalidArgumentError(`A grant is an object that names at least one of ${budgets.join(', ')}.`);
  const entries = Object.entries(given).filter(([, amount]) => amount !== undefined);
  if (entries.length === 0) throw new InvalidArgumentError(`A grant names at least one of ${budgets.join(', ')}.`);
  for (const [budget, amount] of entries) {
    if (!known.has(budget)) throw new InvalidArgumentError(`There is no limit "${budget}" to raise; a grant names ${budgets.join(', ')}.`);
    if (typeof amount !== 'number' || !Number.isFinite(amount) || amount <= 0)
      throw new InvalidArgumentError(`A grant of ${budget} must be a number above 0, not ${String(amount)}.`);
  }
  return Object.freeze(Object.fromEntries(entries));
}

/** All that was granted of one budget. */
export function sumGrants(grants: readonly Grant[] | undefined, budget: keyof Grant): number {
  return grants === undefined ? 0 : grants.reduce((sum, grant) => sum + (grant[budget] ?? 0), 0);
}
