// Expiry of approvals that nobody gives.
import { latestTime } from '../../lib/index.ts';
import type { RunState, Wait } from '../../step-by-step/index.ts';
import type { ActionRequest } from './action.ts';

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

/** A wait as people see it. */
type ShownWait = Wait & { readonly digest: string; readonly expiresAt?: number };

/** Returns what the runtime does about a wait by itself: an approval that nobody gave in time, or a provider to try again. */
export function findDueRequest(wait: ShownWait, approvals: ExpiryOptions | undefined, now: number): ActionRequest | undefined {
  if (wait.type === 'provider') return wait.nextTryAt <= now ? { type: 'resume' } : undefined;
  const { id: waitId, digest, expiresAt } = wait;
  if (expiresAt === undefined || expiresAt > now) return undefined;
  if (approvals?.whenExpired === 'approve') return { type: 'approve', waitId, digest };
  return { type: 'reject', waitId, digest, reason: `nobody answered in time (until ${new Date(expiresAt).toISOString()})` };
}
