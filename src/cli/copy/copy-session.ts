import type { EffectRow, LogEntry, SessionStore } from '../../sessions/index.ts';
import { jsonEquals } from '../../lib/index.ts';

/** Entries that are read and written in one go. */
const pageSize = 200;

/** Stores of a copy. */
export interface CopyStores {
  readonly source: SessionStore;
  readonly target: SessionStore;
  /** The claim on the target. */
  readonly epoch: number;
}

/** Numbers of a session that was copied. */
export interface CopiedSession {
  readonly entries: number;
  readonly effects: number;
}

const toPlain = (rows: readonly (LogEntry | EffectRow)[]): unknown => rows.map((row) => ({ ...row }));

const isSame = (one: readonly (LogEntry | EffectRow)[], other: readonly (LogEntry | EffectRow)[]): boolean =>
  jsonEquals(toPlain(one), toPlain(other));

/** Copies what the target lacks of a session. Returns undefined if the source has no such session any more. */
export async function copySession({ source, target, epoch }: CopyStores, sessionId: string): Promise<CopiedSession | undefined> {
  const stored = await source.log.load(sessionId);
  if (stored === undefined) return undefined;
  const { header, head, effects } = stored;
  let after = (await target.log.effects(sessionId))?.head ?? 0;
  while (after < head) {
    const entries = await source.log.entries(sessionId, { from: after + 1, to: head, limit: pageSize });
    if (entries.length === 0) throw new Error(`entry ${after + 1} of ${head} is missing`);
    await target.log.write({ sessionId, epoch, after, header, entries });
    after += entries.length;
  }
  const open = await target.log.effects(sessionId);
  if (!isSame(open?.effects ?? [], effects)) await target.log.write({ sessionId, epoch, after, header, clearsEffects: true, effects });
  return { entries: head, effects: effects.length };
}

/** Compares a session in both stores. Returns the difference, if there is one. */
export async function compareSession(
  { source, target }: Pick<CopyStores, 'source' | 'target'>,
  sessionId: string,
): Promise<string | undefined> {
  const [one, other] = [await source.log.load(sessionId), await target.log.load(sessionId)];
  if (one === undefined || other === undefined) return 'it is not in both stores';
  if (!jsonEquals({ ...one.header }, { ...other.header })) return 'its header differs';
  if (one.head !== other.head) return `its log has ${one.head} entries in the source and ${other.head} in the target`;
  if (!isSame(one.effects, other.effects)) return 'its open step differs';
  for (let from = 1; from <= one.head; from += pageSize) {
    const range = { from, to: Math.min(one.head, from + pageSize - 1), limit: pageSize };
    const [left, right] = [await source.log.entries(sessionId, range), await target.log.entries(sessionId, range)];
    if (!isSame(left, right)) return `its entries ${range.from} to ${range.to} differ`;
  }
  return undefined;
}
