// The services of the desk.
// Owns:     the copy for readers, and the delivery of mails that are found in the store.
// Does not: run sessions.
// B1. What a handler sends follows from what it has recorded.
// B2. A handler awaits one thing of its context at a time: the SDK ends attempts that await several with Promise.all.
import type { Context, EndpointOptions, ObjectContext, ObjectSharedContext } from '@restatedev/restate-sdk';
import { handlers, object, service } from '@restatedev/restate-sdk';
import type { LogEntry, Mail, SessionStore, StoredHold } from '../index.ts';
import { fromWire } from '../index.ts';
import { applyReports } from './desk-copy.ts';
import { handlerOptions } from './handler-options.ts';
import { planDelivery } from './mail-delivery.ts';
import { createNotices, sendNotices, toNotices, waitForNotices } from './notices.ts';
import type { CopyRequest, EntryRange, PendingNotices, ReportReply, ServiceNames, TurnInput, TurnReport } from './protocol.ts';
import { createRegistry } from './registry.ts';

/** Handlers of sessions that the desk calls. */
interface SessionHandlers {
  readonly turn: (ctx: unknown, input: TurnInput) => Promise<unknown>;
  /** Makes a session send all it has. */
  readonly copy: (ctx: unknown, request: CopyRequest) => Promise<unknown>;
}

const toSession = (ctx: Context, { session }: ServiceNames, sessionId: string) =>
  ctx.objectSendClient<SessionHandlers>({ name: session }, sessionId);

function createDesk(names: ServiceNames, list: SessionStore) {
  const shared = { ...handlerOptions, enableLazyState: true };
  return object({
    name: names.desk,
    options: shared,
    handlers: {
      /** Delivers a mail that was found in the store. */
      pick: async (ctx: ObjectContext, num: number): Promise<void> => {
        const delivery = await ctx.run('mail', async () => {
          const [mail] = await list.readMail({ sessionId: ctx.key, isWaiting: true, after: num - 1, limit: 1 });
          return mail?.num === num ? planDelivery(list, mail) : null;
        });
        if (delivery === null) return;
        const { turn, workers } = delivery;
        toSession(ctx, names, ctx.key).turn(turn);
        for (const worker of workers) sendNotices(ctx, { names, worker }, toNotices(turn));
      },
      /** Stores a report that a worker could not hand over at once. */
      report: async (ctx: ObjectContext, report: TurnReport): Promise<void> => {
        // Recorded, because a second attempt may find that nothing is lacking any more.
        const isWhole = await ctx.run('apply', async () => {
          const [reply] = await applyReports(list, [report]);
          // Nobody waits for the answer: tried again until it is stored.
          if (reply !== undefined && 'error' in reply) throw fromWire(reply.error);
          return reply?.isWhole !== false;
        });
        if (!isWhole) toSession(ctx, names, ctx.key).copy({ rewrites: true });
      },
      entries: handlers.object.shared(shared, (ctx: ObjectSharedContext, { from, to }: EntryRange): Promise<readonly LogEntry[]> =>
        list.entries(ctx.key, { from, to }),
      ),
      mails: handlers.object.shared(shared, (ctx: ObjectSharedContext): Promise<readonly Mail[]> =>
        list.readMail({ sessionId: ctx.key, isWaiting: true }),
      ),
      header: handlers.object.shared(shared, async (ctx: ObjectSharedContext) => {
        const found = await list.effects(ctx.key, { prefix: 'none' });
        return found && { header: found.header, head: found.head };
      }),
    },
  });
}

function createWorkerService(names: ServiceNames, list: SessionStore) {
  return service({
    name: names.workers,
    options: handlerOptions,
    handlers: {
      // Not recorded: a report that is applied again changes nothing.
      report: (_: Context, reports: readonly TurnReport[]): Promise<readonly ReportReply[]> => applyReports(list, reports),
      notices: (ctx: Context, { worker, received }: { readonly worker: string; readonly received: number }): Promise<PendingNotices> =>
        waitForNotices(ctx, { names, worker }, received),
      holds: async (): Promise<readonly StoredHold[]> => list.readHolds(),
    },
  });
}

/** Creates the services of a desk. */
export const createDeskServices = (names: ServiceNames, list: SessionStore): EndpointOptions['services'] => [
  createDesk(names, list),
  createNotices(names),
  createWorkerService(names, list),
  createRegistry(names, list),
];
