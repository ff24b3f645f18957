// The copy of sessions that readers use.
// Owns:     turning the reports of turns into writes to a store.
// D1. A repeated report changes nothing. Reports of one session arrive in order.
// D2. A change to entries that the copy does not have is left out: its store was lost, and the session has to send everything again.
import { SteplineError } from '../../lib/index.ts';
import type { SessionStore } from '../index.ts';
import type { TurnChange } from './protocol.ts';

const isFenced = (error: unknown): boolean => SteplineError.is(error) && error.code === 'store-fenced';
const isDeleted = (error: unknown): boolean => SteplineError.is(error) && error.code === 'session-deleted';

async function readEpoch(store: SessionStore): Promise<number> {
  const { epoch } = await store.readClaim();
  return epoch === 0 ? store.claim({ after: 0 }) : epoch;
}

type WriteChange = Extract<TurnChange, { type: 'write' }>;

/** Applies a write. Returns false if entries before it are missing. */
async function applyWrite(store: SessionStore, sessionId: string, write: WriteChange): Promise<boolean> {
  const { after, entries = [], effects = [], clearsEffects = false, header, takesMail = [] } = write;
  const known = await store.effects(sessionId);
  const head = known?.head ?? 0;
  if (after > head) return false;
  const last = entries.at(-1)?.n ?? after;
  if (last < head) return true;
  const fresh = entries.filter(({ n }) => n > head);
  const kept = new Set(clearsEffects ? [] : known?.effects.map(({ key, phase }) => `${phase} ${key}`));
  await store.write({
    sessionId,
    epoch: await readEpoch(store),
    after: head,
    entries: fresh,
    effects: effects.filter(({ key, phase }) => !kept.has(`${phase} ${key}`)),
    clearsEffects,
    takesMail,
    ...(header !== undefined && { header }),
  });
  return true;
}

/** Applies a change. Returns false if the copy lacks what it changes. */
async function applyChange(store: SessionStore, sessionId: string, change: TurnChange): Promise<boolean> {
  switch (change.type) {
    case 'write':
      return applyWrite(store, sessionId, change);
    case 'rewrite': {
      const { type: _, ...rewrite } = change;
      if (((await store.effects(sessionId))?.head ?? 0) < change.after) return false;
      await store.rewrite({ ...rewrite, sessionId, epoch: await readEpoch(store) });
      return true;
    }
    case 'delete': {
      const { type: _, ...deletion } = change;
      await store.delete({ ...deletion, sessionId, epoch: await readEpoch(store) });
      return true;
    }
    case 'answer': {
      const { type: _, ...answer } = change;
      await store.answerMail({ ...answer, epoch: await readEpoch(store) });
      return true;
    }
  }
}

/** Applies a change under the current claim, even if another process has taken it meanwhile. */
async function applyOne(store: SessionStore, sessionId: string, change: TurnChange): Promise<boolean> {
  for (;;) {
    try {
      return await applyChange(store, sessionId, change);
    } catch (error) {
      if (isDeleted(error)) return true;
      // Another worker has become the holder in the meantime.
      if (!isFenced(error)) throw error;
    }
  }
}

/** Applies changes to the copy. Returns false if the copy lacks what some of them change. */
export async function applyChanges(store: SessionStore, sessionId: string, changes: readonly TurnChange[]): Promise<boolean> {
  let isWhole = true;
  for (const change of changes) if (!(await applyOne(store, sessionId, change))) isWhole = false;
  return isWhole;
}
