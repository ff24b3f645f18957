// Who runs a session, as stores keep it.
// Owns:     what a write does to it, and whether a write is allowed.
// Does not: know how a store keeps it, or when a worker counts as gone.
// L1. Between two workers that ever owned a session, its fence has grown.
// L2. A session with mail that was not applied has an owner, or is ready.
import { omitUndefined } from '../../lib/index.ts';
import { LeaseLostError, MailWaitingError } from '../core/errors.ts';
import { createWriteError } from './check-write.ts';
import type { NewMail, SessionHead, SessionWrite } from './session-store.ts';

/** The fields of a session that say who runs it. */
export interface LeaseRow {
  /** Grows with each owner, and when one loses it. */
  readonly fence: number;
  /** Worker that owns it. */
  readonly owner?: string;
  /** Worker that has owned it last, and may have it in memory. */
  readonly last?: string;
  /** True if nobody owns it, and something is left to do. */
  readonly isReady: boolean;
  /** Time at which it became ready, by the clock of the store. */
  readonly readyAt: number;
  /** Number of the last mail that was posted, and of the last one that was applied or refused. */
  readonly posted: number;
  readonly applied: number;
  /** Number of workers that were lost in the open step. */
  readonly attempts: number;
  /** Worker whose loss was the last of these. */
  readonly blamed?: string;
  /** True if the loss of the owner counts as an attempt. */
  readonly isStepping: boolean;
  /** True if a mail waits that a worker without room applies too. */
  readonly isUrgent: boolean;
}

/** Time in which a ready session is left to the worker that had it last, if that has room. */
export const stickyMs = 200;

/** Cancelled sessions that a worker claims in one go, beyond its room. */
export const mostUrgent = 100;

/** Returns what everybody can read of a row. */
export const toHeadLease = ({ fence, attempts, owner, posted, applied }: LeaseRow): Omit<SessionHead, 'header' | 'head'> =>
  omitUndefined({ fence, attempts, worker: owner, lastMail: posted > applied ? posted : undefined });

/** Row of a session that does not exist yet. */
export const newLeaseRow: LeaseRow = {
  ...{ fence: 0, isReady: false, readyAt: 0, posted: 0, applied: 0 },
  ...{ attempts: 0, isStepping: false, isUrgent: false },
};

/** Throws if a write does not have the lease that it names, or has to wait for mail. */
export function checkLease(row: LeaseRow, { sessionId, lease, mail, isBehindMail = false }: SessionWrite): void {
  const owner = lease.type === 'held' ? lease.worker : undefined;
  if (row.owner !== owner || row.fence !== lease.fence) throw new LeaseLostError(sessionId);
  if (mail !== undefined && mail.num > row.posted) throw createWriteError(sessionId, `mail ${mail.num} was never posted`);
  if (isBehindMail && mail === undefined && row.posted > row.applied) throw new MailWaitingError(sessionId);
}

/** Returns the row after a write that was checked. */
export function writeLease(
  row: LeaseRow,
  write: SessionWrite,
  { isOpen, now }: { readonly isOpen: boolean; readonly now: number },
): LeaseRow {
  const { lease, keepsLease, mail, clearsEffects, resetsAttempts, isStepping } = write;
  const takes = lease.type === 'free';
  const applied = Math.max(row.applied, mail?.num ?? 0);
  const hasMail = row.posted > applied;
  const isReady = !keepsLease && (isOpen || hasMail);
  const restarts = clearsEffects === true || resetsAttempts === true;
  return omitUndefined({
    fence: takes ? row.fence + 1 : row.fence,
    owner: keepsLease ? lease.worker : undefined,
    last: lease.worker,
    isReady,
    readyAt: isReady ? now : row.readyAt,
    posted: row.posted,
    applied,
    attempts: restarts ? 0 : row.attempts,
    blamed: restarts ? undefined : row.blamed,
    isStepping: keepsLease && (isStepping ?? (!takes && row.isStepping)),
    isUrgent: hasMail && row.isUrgent,
  });
}

/** Returns the row after a mail was posted. */
export function postLease(row: LeaseRow, { isUrgent = false }: Pick<NewMail, 'isUrgent'>, now: number): LeaseRow {
  const isReady = row.owner === undefined;
  const readyAt = isReady && !row.isReady ? now : row.readyAt;
  return { ...row, posted: row.posted + 1, isReady, readyAt, isUrgent: row.isUrgent || isUrgent };
}

/** Returns the row of a session whose owner is gone (`blames`), or has given it back. */
export const freeLease = (row: LeaseRow, { blames, now }: { readonly blames: boolean; readonly now: number }): LeaseRow => ({
  ...omitUndefined({ ...row, owner: undefined, fence: row.fence + 1, isReady: true, readyAt: now, isStepping: false }),
  ...(blames && row.isStepping && { attempts: row.attempts + 1, ...omitUndefined({ blamed: row.owner }) }),
});

/** Returns the row of a session that a worker claims. */
export const claimLease = (row: LeaseRow, worker: string): LeaseRow => ({
  ...row,
  ...{ fence: row.fence + 1, owner: worker, last: worker, isReady: false, isStepping: false },
});

/** Returns the row of a session without the last attempt: the worker that it was counted against has come back. */
export const forgiveLease = ({ blamed: _, ...row }: LeaseRow): LeaseRow => ({ ...row, attempts: Math.max(0, row.attempts - 1) });
