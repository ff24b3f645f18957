// The list of workers.
// Owns:     which workers live, and the search for undelivered mails.
// R1. A worker that gives no sign of life is forgotten.
// R2. A mail that others have put into the store gets its turn too, a little later: workers that live make the desk look.
import type { EndpointOptions, ObjectContext } from '@restatedev/restate-sdk';
import { object } from '@restatedev/restate-sdk';
import type { SessionStore } from '../index.ts';
import { noteHeartbeat } from './copy-holder.ts';
import { handlerOptions } from './handler-options.ts';
import { clearNotices, sendNotices } from './notices.ts';
import type { Heartbeat, ServiceNames } from './protocol.ts';
import type { MailLook } from './stray-mails.ts';
import { findStrayMails } from './stray-mails.ts';

/** Minimum time between two searches for undelivered mails. */
const lookMs = 900;

/** Time after which a worker that gave no sign is forgotten. */
const forgetMs = 60_000;

/** Times of the last heartbeats, by worker. */
type KnownWorkers = Readonly<Record<string, number>>;

const readWorkers = async (ctx: ObjectContext): Promise<KnownWorkers> => (await ctx.get<KnownWorkers>('workers')) ?? {};

/** Creates the object that keeps the list. */
export function createRegistry(names: ServiceNames, list: SessionStore): EndpointOptions['services'][number] {
  return object({
    name: names.registry,
    options: handlerOptions,
    handlers: {
      beat: async (ctx: ObjectContext, heartbeat: Heartbeat): Promise<void> => {
        const { id, isLeaving = false } = heartbeat;
        const now = await ctx.date.now();
        const known = await readWorkers(ctx);
        const alive = Object.entries({ ...known, [id]: now }).filter(
          ([worker, at]) => now - at < forgetMs && !(worker === id && isLeaving),
        );
        ctx.set('workers', Object.fromEntries(alive));
        for (const worker of Object.keys(known).filter((each) => !alive.some(([other]) => other === each)))
          clearNotices(ctx, { names, worker });
        await noteHeartbeat(list, heartbeat, { now, beats: known });
        if (now - ((await ctx.get<number>('lookedAt')) ?? 0) < lookMs) return;
        const { strays, look } = await findStrayMails(ctx, list, (await ctx.get<MailLook>('look')) ?? undefined);
        ctx.set('lookedAt', now);
        ctx.set('look', look);
        for (const { sessionId, num } of strays)
          ctx.objectSendClient<{ pick: (ctx: unknown, num: number) => Promise<unknown> }>({ name: names.desk }, sessionId).pick(num);
      },
      /** Looks through all mails again: their numbers start over in a new store. */
      lookAgain: async (ctx: ObjectContext): Promise<void> => ctx.clear('look'),
      /** Notifies all workers that holds have changed. */
      noteHolds: async (ctx: ObjectContext): Promise<void> => {
        for (const worker of Object.keys(await readWorkers(ctx))) sendNotices(ctx, { names, worker }, [{ type: 'holds' }]);
      },
    },
  });
}
