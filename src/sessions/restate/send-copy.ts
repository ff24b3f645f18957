// The handler that sends a whole session to the desk.
// Owns:     what the desk needs to have a session again after its store was lost, or an earlier state of it was restored.
// Does not: run the session. It waits for the turn that runs.
// S1. Entries are sent in their order, so that a part that was lost on its way is sent again with the next copy.
// S2. Mails of a lost store do not count any more: a new store numbers its mails from the start.
import type { ObjectContext } from '@restatedev/restate-sdk';
import type { LogEntry } from '../index.ts';
import { isOpenRow } from '../index.ts';
import { readChunkStarts, toChunkKey } from './kept-chunks.ts';
import type { TurnChange } from './protocol.ts';
import type { KeptHead } from './session-image.ts';
import type { SessionWorkerHost } from './worker-host.ts';

/** Creates the handler. It sends nothing if the desk has everything. */
export function createCopyHandler(host: SessionWorkerHost): (ctx: ObjectContext) => Promise<void> {
  return async (ctx) => {
    const kept = await ctx.get<KeptHead>('head');
    if (kept === null) return;
    const { signal } = new AbortController();
    const send = (change: TurnChange): Promise<void> => host.sendReport({ sessionId: ctx.key, changes: [change] }, signal);
    const { head, header, effects, deletedAt } = kept;
    if (deletedAt !== undefined) return send({ type: 'delete', at: deletedAt });
    const known = await ctx.run('known', async () => (await host.readHead(ctx.key))?.head ?? 0);
    if (header === undefined || known >= head) return;
    const toRewrite: (readonly LogEntry[])[] = [];
    for (const from of await readChunkStarts(ctx)) {
      const entries = (await ctx.get<readonly LogEntry[]>(toChunkKey(from))) ?? [];
      await send({ type: 'write', after: from - 1, header, entries, effects: effects.filter(isOpenRow), clearsEffects: true });
      if (from <= known) toRewrite.push(entries);
    }
    // An earlier state of the store may have what was erased since.
    for (const entries of toRewrite) await send({ type: 'rewrite', after: head, entries });
    ctx.set('head', { ...kept, taken: [] });
  };
}
