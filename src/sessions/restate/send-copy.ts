// The handler that sends a whole session to the desk.
// Owns:     what the desk needs to have a session again after its store was lost, or an earlier state of it was restored.
// Does not: run the session. It waits for the turn that runs.
// S1. Entries are sent in their order, so that a part that was lost on its way is sent again with the next copy.
// S2. Mails of a lost store do not count any more: a new store numbers its mails from the start.
import type { ObjectContext } from '@restatedev/restate-sdk';
import type { LogEntry } from '../index.ts';
import { isOpenRow } from '../index.ts';
import { readChunkStarts, toChunkKey } from './kept-chunks.ts';
import type { CopyRequest, TurnChange, TurnReport } from './protocol.ts';
import type { KeptHead } from './session-image.ts';
import type { SessionWorkerHost } from './worker-host.ts';

type Send = (ctx: unknown, report: TurnReport) => Promise<unknown>;

/** Creates the handler. It sends nothing if the desk has everything. */
export function createCopyHandler(host: SessionWorkerHost): (ctx: ObjectContext, request?: CopyRequest) => Promise<void> {
  return async (ctx, { rewrites = false } = {}) => {
    const kept = await ctx.get<KeptHead>('head');
    if (kept === null) return;
    const sessionId = ctx.key;
    // The server keeps them for a desk that is down, so that no turn has to wait for it.
    const send = (change: TurnChange): void =>
      void ctx.objectSendClient<{ report: Send }>({ name: host.names.desk }, sessionId).report({ sessionId, changes: [change] });
    const { head, header, effects, deletedAt } = kept;
    if (deletedAt !== undefined) {
      send({ type: 'delete', at: deletedAt });
      return;
    }
    const known = await ctx.run('known', async () => (await host.readHead(sessionId))?.head ?? 0);
    if (header === undefined || (known >= head && !rewrites)) return;
    const toRewrite: (readonly LogEntry[])[] = [];
    for (const from of await readChunkStarts(ctx)) {
      const entries = (await ctx.get<readonly LogEntry[]>(toChunkKey(from))) ?? [];
      send({ type: 'write', after: from - 1, header, entries, effects: effects.filter(isOpenRow), clearsEffects: true });
      if (from <= known) toRewrite.push(entries);
    }
    // An earlier state of the store may have what was erased since.
    for (const entries of toRewrite) send({ type: 'rewrite', after: head, entries });
    ctx.set('head', { ...kept, taken: [] });
  };
}
