// Expiry of approvals that nobody gives.
import { latestTime } from '../../lib/index.ts';
import type { RunState, Wait } from '../../step-by-step/index.ts';

/** Rule for approvals that nobody gives. */
export interface ExpiryOptions {
  /** Time to wait for an approval. */
  readonly expireAfterMs: number;
  /** Decision when the time is up. @default 'reject' */
  readonly whenExpired?: 'reject' | 'approve';
}

/** Returns the time at which a wait expires; undefined if it never does. */
export function getExpiresAt(
  approvals: ExpiryOptions | undefined,
  { pendingStep }: RunState,
  { id, type }: Pick<Wait, 'id' | 'type'>,
): number | undefined {
  if (approvals === undefined || pendingStep === undefined || type !== 'approval') return undefined;
  return Math.min(latestTime, (pendingStep.askedEarlier?.[id] ?? pendingStep.parkedAt) + approvals.expireAfterMs);
}

/** Returns the time at which a state needs attention: its first wait expires, or a provider is tried again. */
export function getWakeAt(approvals: ExpiryOptions | undefined, state: RunState): number | undefined {
  const times = state.waitingFor.flatMap((wait) =>
    wait.type === 'provider' ? [wait.nextTryAt] : (getExpiresAt(approvals, state, wait) ?? []),
  );
  return times.length === 0 ? undefined : Math.min(...times);
}
