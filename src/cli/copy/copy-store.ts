// Copying a store.
// Q1. Nothing in the source is changed but its claim, which keeps workers away meanwhile.
// Q2. Until everything is copied and compared, a hold in the target keeps its sessions from starting model calls.
// Q3. A repeated copy continues an interrupted one: the hold says that it belongs to the same source.
import type { Clock, IdSource } from '../../lib/index.ts';
import type { Actor, SessionStore } from '../../sessions/index.ts';
import { dropHold, listAll, putHold, readHolds } from '../../sessions/index.ts';
import { unavailableError } from '../failures.ts';
import type { CopyClaim } from '../worker/claim-for-copy.ts';
import { assertUnused, claimForCopy } from '../worker/claim-for-copy.ts';
import { compareMail, copyHolds, copyMail } from './copy-mail.ts';
import type { CopyStores } from './copy-session.ts';
import { compareSession, copySession } from './copy-session.ts';

/** Options for a copy. */
export interface CopyOptions {
  /** Name of the source, by which a repeated copy is recognized. */
  readonly from: string;
  readonly by: Actor;
  /** Copies from a store in use, and into one that has sessions. */
  readonly force: boolean;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Numbers of a copy. */
export interface CopyReport {
  readonly sessions: number;
  readonly entries: number;
  readonly effects: number;
  readonly mail: number;
  readonly holds: number;
  /** Sessions that could not be copied, or differ, with the reason. */
  readonly failed: readonly { readonly sessionId: string; readonly reason: string }[];
}

const holdId = 'stepline-copy';

/** True if the target was left by an interrupted copy of the same source. */
async function isInterruptedCopy(target: SessionStore, reason: string): Promise<boolean> {
  const found = (await readHolds(target.notes)).find(({ id }) => id === holdId);
  return found?.reason === reason;
}

async function checkTarget(target: SessionStore, { clock, force }: CopyOptions, reason: string): Promise<void> {
  await assertUnused(target, clock, 'target');
  const { sessions } = await target.heads.list({ limit: 1 });
  if (sessions.length === 0 || force || (await isInterruptedCopy(target, reason))) return;
  throw unavailableError('The target has sessions already. Nothing was copied. Give a new store, or pass --force to add to this one.');
}

/** Lists the ids of all sessions, oldest first. */
async function listIds(source: SessionStore): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const { id } of listAll(source, {})) ids.push(id);
  return ids.reverse();
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const isStoreError = (error: unknown): boolean =>
  error instanceof Error && ['store-unavailable', 'store-fenced'].includes(String(Reflect.get(error, 'code')));

async function copyAll(stores: CopyStores, { onProgress }: CopyOptions, check: () => void): Promise<CopyReport> {
  const ids = await listIds(stores.source);
  const failed: { readonly sessionId: string; readonly reason: string }[] = [];
  const sums = { sessions: 0, entries: 0, effects: 0 };
  for (const [index, sessionId] of ids.entries()) {
    check();
    try {
      const copied = await copySession(stores, sessionId);
      const difference = await compareSession(stores, sessionId);
      if (difference !== undefined) failed.push({ sessionId, reason: difference });
      sums.sessions += 1;
      sums.entries += copied?.entries ?? 0;
      sums.effects += copied?.effects ?? 0;
    } catch (error) {
      if (isStoreError(error)) throw error;
      failed.push({ sessionId, reason: describe(error) });
    }
    onProgress?.(index + 1, ids.length);
  }
  const mail = await copyMail(stores);
  const holds = await copyHolds(stores);
  for (const difference of await compareMail(stores)) failed.push({ sessionId: '', reason: `${difference} differs` });
  return { ...sums, mail, holds, failed };
}

/** Copies everything of a store into another, and compares it. */
export async function copyStore(source: SessionStore, target: SessionStore, options: CopyOptions): Promise<CopyReport> {
  const { clock, ids, force, from, by } = options;
  const reason = `The copy from ${from} is not complete.`;
  if (!force) await assertUnused(source, clock, 'source');
  await checkTarget(target, options, reason);
  const claims: CopyClaim[] = [];
  try {
    if (!force) claims.push(await claimForCopy(source, { clock, ids }));
    const claim = await claimForCopy(target, { clock, ids });
    claims.push(claim);
    const at = clock.now();
    await putHold(target.notes, { id: holdId, at, reason, by });
    const report = await copyAll({ source, target, epoch: claim.epoch }, options, () => {
      for (const each of claims) each.check();
    });
    if (report.failed.length === 0) await dropHold(target.notes, holdId);
    return report;
  } finally {
    for (const claim of claims) await claim.release().catch(() => undefined);
  }
}
