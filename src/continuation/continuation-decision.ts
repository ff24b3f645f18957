import { describeValue, InvalidArgumentError } from '../lib/index.ts';

/** One criterion's decision. Guards forbid or allow; work drivers request, or allow a stop. */
export const ContinuationDecision = {
  ForbidContinuation: 'forbid',
  AllowContinuation: 'allow',
  RequestContinuation: 'request',
  AllowStop: 'stop',
} as const;
export type ContinuationDecision = (typeof ContinuationDecision)[keyof typeof ContinuationDecision];

const known: ReadonlySet<unknown> = new Set(Object.values(ContinuationDecision));

/** True for one of the four wire values. */
export const isContinuationDecision = (value: unknown): value is ContinuationDecision => known.has(value);

/** The truth table: nothing forbids, and something requests, or something allows and nothing allows a stop. Order never matters. */
export function canContinueWith(...decisions: readonly ContinuationDecision[]): boolean {
  for (const decision of decisions) if (!isContinuationDecision(decision)) throw createDecisionError(decision);
  if (decisions.includes('forbid')) return false;
  return decisions.includes('request') || (decisions.includes('allow') && !decisions.includes('stop'));
}

function createDecisionError(given: unknown): InvalidArgumentError {
  const isSeveral = typeof given === 'object' && given !== null && Symbol.iterator in given;
  const cure = isSeveral ? 'Pass decisions one by one: canContinueWith(...decisions).' : 'Use forbid, allow, request or stop.';
  return new InvalidArgumentError(`canContinueWith() needs decisions, not ${describeValue(given)}. ${cure}`);
}
