import { checkKeys, describeValue, InvalidArgumentError, isRecord } from '../lib/index.ts';

/** Amounts granted on top of the limits of one execution. Each is above 0; steps and tokens are whole numbers. */
export interface Grant {
  readonly steps?: number;
  readonly tokens?: number;
  readonly wallMs?: number;
  readonly activeMs?: number;
  readonly costUsd?: number;
}

/** A grant as it is stored. */
export interface RecordedGrant extends Grant {
  /** Person who granted it, if known. */
  readonly by?: string;
}

/** Author of a decision, if known: explanations name that person. */
export interface DecisionOptions {
  readonly by?: string;
}

const budgets = ['steps', 'tokens', 'wallMs', 'activeMs', 'costUsd'] as const satisfies readonly (keyof Grant)[];

/** A grant as it is stored. Refuses one that grants nothing, or a value that is not an amount. */
export function parseGrant(given: Grant): Grant {
  if (!isRecord(given))
    throw new InvalidArgumentError(`A grant must be an object with at least one of ${budgets.join(', ')}, not ${describeValue(given)}.`);
  const entries = Object.entries(given).filter(([, amount]) => amount !== undefined);
  if (entries.length === 0) throw new InvalidArgumentError(`The grant is empty. Pass at least one of ${budgets.join(', ')}.`);
  checkKeys('grant()', given, budgets);
  for (const [budget, amount] of entries) {
    const isCount = budget === 'steps' || budget === 'tokens';
    const isAmount = typeof amount === 'number' && amount > 0 && (isCount ? Number.isSafeInteger(amount) : Number.isFinite(amount));
    if (!isAmount)
      throw new InvalidArgumentError(
        `grant(): ${budget} must be a ${isCount ? 'whole number of 1 or more' : 'number above 0'}, not ${describeValue(amount)}.`,
      );
  }
  return Object.freeze(Object.fromEntries(entries));
}

/** Lists the people who granted some of one budget, each once. */
export function listGranters(grants: readonly RecordedGrant[] | undefined, budget: keyof Grant): readonly string[] {
  return [...new Set((grants ?? []).flatMap((grant) => (grant[budget] === undefined ? [] : (grant.by ?? []))))];
}

/** All that was granted of one budget. */
export function sumGrants(grants: readonly Grant[] | undefined, budget: keyof Grant): number {
  return grants === undefined ? 0 : grants.reduce((sum, grant) => sum + (grant[budget] ?? 0), 0);
}
