// The copy of sessions that readers use.
// Owns:     turning the reports of turns into writes to a store.
// D1. A repeated report changes nothing. Reports of one session arrive in order.
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

async function applyWrite(store: SessionStore, sessionId: string, write: WriteChange): Promise<void> {
  const { after, entries = [], effects = [], clearsEffects = false, header, takesMail = [] } = write;
  const known = await store.effects(sessionId);
  const head = known?.head ?? 0;
  const last = entries.at(-1)?.n ?? after;
  if (last < head) return;
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
}

async function applyChange(store: SessionStore, sessionId: string, change: TurnChange): Promise<void> {
  switch (change.type) {
    case 'write':
      return applyWrite(store, sessionId, change);
    case 'rewrite': {
      const { type: _, ...rewrite } = change;
      return store.rewrite({ ...rewrite, sessionId, epoch: await readEpoch(store) });
    }
    case 'delete': {
      const { type: _, ...deletion } = change;
      return store.delete({ ...deletion, sessionId, epoch: await readEpoch(store) });
    }
    case 'answer': {
      const { type: _, ...answer } = change;
      return store.answerMail({ ...answer, epoch: await readEpoch(store) });
    }
  }
}

/** Applies changes to the copy. */
export async function applyChanges(store: SessionStore, sessionId: string, changes: readonly TurnChange[]): Promise<void> {
  for (const change of changes) {
    for (;;) {
      try {
        await applyChange(store, sessionId, change);
        break;
      } catch (error) {
        if (isDeleted(error)) break;
        // Another worker has become the holder in the meantime.
        if (!isFenced(error)) throw error;
      }
    }
  }
}
