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
export function canContinueWith(decisions: Iterable<ContinuationDecision>): boolean {
  let [requested, allowed, stopAllowed] = [false, false, false];
  for (const decision of decisions) {
    if (decision === 'forbid') return false;
    if (decision === 'request') requested = true;
    else if (decision === 'stop') stopAllowed = true;
    else allowed = true;
  }
  return requested || (allowed && !stopAllowed);
}
