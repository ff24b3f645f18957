// Copying a store.
// Q1. Nothing in the source is changed, and nobody is kept from it: each session is copied as it was when its turn came.
// Q2. Until everything is copied and compared, a hold in the target keeps its sessions from starting model calls.
// Q3. A repeated copy continues an interrupted one: the hold says that it belongs to the same source.
import type { Clock } from '../../lib/index.ts';
import type { Actor, SessionStore } from '../../sessions/index.ts';
import { dropHold, listAll, putHold, readHolds } from '../../sessions/index.ts';
import { unavailableError } from '../failures.ts';
import { describeWorker, findWorkers, isAlive } from '../worker/find-workers.ts';
import type { CopyStores } from './copy-session.ts';
import { compareSession, copySession, readMoment } from './copy-session.ts';

/** Options for a copy. */
export interface CopyOptions {
  /** Name of the source, by which a repeated copy is recognized. */
  readonly from: string;
  readonly by: Actor;
  /** Copies into a store that has sessions. */
  readonly force: boolean;
  readonly clock: Clock;
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

async function checkTarget(target: SessionStore, { force }: CopyOptions, reason: string): Promise<void> {
  const [worker] = (await findWorkers(target)).filter(isAlive);
  if (worker !== undefined)
    throw unavailableError(
      `A worker runs the sessions of the target: ${describeWorker(worker)}. Nothing was copied. Stop all workers of the target first.`,
    );
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

const isStoreError = (error: unknown): boolean => error instanceof Error && Reflect.get(error, 'code') === 'store-unavailable';

async function copyAll(stores: CopyStores, { onProgress }: CopyOptions): Promise<CopyReport> {
  const ids = await listIds(stores.source);
  const failed: { readonly sessionId: string; readonly reason: string }[] = [];
  const sums = { sessions: 0, entries: 0, effects: 0, mail: 0 };
  for (const [index, sessionId] of ids.entries()) {
    try {
      const moment = await readMoment(stores.source, sessionId);
      // It was deleted since it was listed.
      if (moment === undefined) continue;
      await copySession(stores, moment);
      const difference = await compareSession(stores, moment);
      if (difference !== undefined) failed.push({ sessionId, reason: difference });
      sums.sessions += 1;
      sums.entries += moment.head;
      sums.effects += moment.effects.length;
      sums.mail += moment.mail.length;
    } catch (error) {
      if (isStoreError(error)) throw error;
      failed.push({ sessionId, reason: describe(error) });
    }
    onProgress?.(index + 1, ids.length);
  }
  return { ...sums, holds: await copyHolds(stores), failed };
}

/** Copies holds. Returns their number. */
async function copyHolds({ source, target }: CopyStores): Promise<number> {
  const holds = await readHolds(source.notes);
  for (const hold of holds) await putHold(target.notes, hold);
  return holds.length;
}

/** Copies everything of a store into another, and compares it. */
export async function copyStore(source: SessionStore, target: SessionStore, options: CopyOptions): Promise<CopyReport> {
  const { clock, from, by } = options;
  const reason = `The copy from ${from} is not complete.`;
  await checkTarget(target, options, reason);
  await putHold(target.notes, { id: holdId, at: clock.now(), reason, by });
  const report = await copyAll({ source, target }, options);
  if (report.failed.length === 0) await dropHold(target.notes, holdId);
  return report;
}
