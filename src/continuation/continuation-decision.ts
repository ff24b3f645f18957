/** One criterion's answer. Guards forbid or allow; work drivers request, or allow to stop. */
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

/** The truth table: nobody forbids, and somebody requests, or somebody allows and nobody lets go. Order never matters. */
export function canContinueWith(decisions: Iterable<ContinuationDecision>): boolean {
  const given = new Set(decisions);
  if (given.has('forbid')) return false;
  return given.has('request') || (given.has('allow') && !given.has('stop'));
}
