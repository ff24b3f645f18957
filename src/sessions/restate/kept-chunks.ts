// The chunks of entries that are kept under a session's object.
import type { ObjectContext, ObjectSharedContext } from '@restatedev/restate-sdk';
import { omitUndefined } from '../../lib/index.ts';
import type { LogEntry } from '../index.ts';
import type { TurnChange } from './protocol.ts';

const prefix = 'entries/';

export const toChunkKey = (from: number): string => `${prefix}${from}`;

/** Key of the number of the entry that answered a request. */
export const toRequestKey = (requestId: string): string => `request/${requestId}`;

/** Returns the number of the first entry of every chunk, in their order. */
export const readChunkStarts = async (ctx: ObjectSharedContext): Promise<readonly number[]> =>
  (await ctx.stateKeys())
    .filter((key) => key.startsWith(prefix))
    .map((key) => Number(key.slice(prefix.length)))
    .sort((one, other) => one - other);

/** Rewrites entries in chunks that a turn does not read. */
export async function rewriteOldChunks(
  ctx: ObjectContext,
  { entries }: Extract<TurnChange, { type: 'rewrite' }>,
  first: number,
): Promise<void> {
  const old = new Map(entries.filter(({ n }) => n < first).map((entry) => [entry.n, entry]));
  if (old.size === 0) return;
  const starts = await readChunkStarts(ctx);
  const affected = new Set([...old.keys()].map((n) => starts.findLast((from) => from <= n)));
  for (const from of affected) {
    if (from === undefined) continue;
    const chunk = (await ctx.get<readonly LogEntry[]>(toChunkKey(from))) ?? [];
    ctx.set(
      toChunkKey(from),
      chunk.map((entry) => {
        const next = old.get(entry.n);
        if (next === undefined) return entry;
        const { events: _, ...rest } = entry;
        return { ...rest, body: next.body, ...omitUndefined({ events: next.events }) };
      }),
    );
  }
}

/** Finds the entry that answered a request, however old. */
export async function findKeptRequest(ctx: ObjectSharedContext, requestId: string): Promise<LogEntry | undefined> {
  const n = await ctx.get<number>(toRequestKey(requestId));
  if (n === null) return undefined;
  const from = (await readChunkStarts(ctx)).findLast((start) => start <= n);
  const chunk = from === undefined ? null : await ctx.get<readonly LogEntry[]>(toChunkKey(from));
  return chunk?.find((entry) => entry.n === n);
}
