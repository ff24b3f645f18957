// The services of the desk.
// Owns:     accepting actions, and the copy for readers.
// Does not: run sessions.
// B1. An action is accepted whether or not a worker lives: its turn waits in the server.
// B2. What a handler sends follows from what it has recorded.
// B3. A handler awaits one thing of its context at a time: the SDK ends attempts that await several with Promise.all.
import type { Context, EndpointOptions, ObjectContext, ObjectSharedContext } from '@restatedev/restate-sdk';
import { handlers, object, service } from '@restatedev/restate-sdk';
import type { JsonObject } from '../../lib/index.ts';
import { SteplineError } from '../../lib/index.ts';
import type { LogEntry, Mail, SessionStore, StoredHold } from '../index.ts';
import { fromWire, toWire } from '../index.ts';
import { applyReports, findWorkers } from './desk-copy.ts';
import { handlerOptions } from './handler-options.ts';
import { createNotices, sendNotices, waitForNotices } from './notices.ts';
import type { EntryRange, PendingNotices, PostReply, PostRequest, ReportReply, ServiceNames, TurnInput, TurnReport } from './protocol.ts';
import { createRegistry } from './registry.ts';

/** Handlers of sessions that the desk calls. */
interface SessionHandlers {
  readonly turn: (ctx: unknown, input: TurnInput) => Promise<unknown>;
  /** Makes a session send all it has. */
  readonly copy: (ctx: unknown) => Promise<unknown>;
}

const toSession = (ctx: Context, { session }: ServiceNames, sessionId: string) =>
  ctx.objectSendClient<SessionHandlers>({ name: session }, sessionId);

/** A mail in the store, with what is needed to deliver it. */
interface StoredMail {
  readonly mail: Mail;
  readonly holds: readonly string[];
  /** Workers that run the session. */
  readonly workers: readonly string[];
}

/** Result of posting a mail. A request that was answered long ago has a mail and nothing to deliver. */
type Posted = StoredMail | { readonly answered: true } | { readonly error: JsonObject };

/** The mail is stored before its workers are looked up: a worker that is not known yet finds it when it reports. */
const toStoredMail = async (list: SessionStore, mail: Mail): Promise<StoredMail> => ({
  mail,
  holds: (await list.readHolds()).map(({ id }) => id),
  workers: await findWorkers(list, mail.sessionId),
});

async function post(list: SessionStore, mail: PostRequest): Promise<Posted> {
  try {
    if ((await list.findRequest(mail.sessionId, mail.requestId)) !== undefined) return { answered: true };
    return await toStoredMail(list, await list.post(mail));
  } catch (error) {
    // A failing store is retried; any other error is a refusal.
    if (!SteplineError.is(error) || error.code === 'store-unavailable') throw error;
    return { error: toWire(error) };
  }
}

/** Gives a mail its turn, and tells workers that run the session now. */
function deliver(ctx: ObjectContext, names: ServiceNames, { mail, holds, workers }: StoredMail): void {
  toSession(ctx, names, ctx.key).turn({ mail, holds });
  for (const worker of workers) sendNotices(ctx, { names, worker }, [{ type: 'mail', mail }]);
}

/** Stores reports. Sessions of which the copy lacks something are asked to send all they have. */
async function storeReports(
  ctx: Context,
  { names, list }: { readonly names: ServiceNames; readonly list: SessionStore },
  reports: readonly TurnReport[],
): Promise<readonly ReportReply[]> {
  // Recorded, because a second attempt may find that nothing is lacking any more.
  const applied = await ctx.run('apply', () => applyReports(list, reports));
  for (const [index, { isLacking }] of applied.entries()) if (isLacking) toSession(ctx, names, reports[index]?.sessionId ?? '').copy();
  return applied.map(({ reply }) => reply);
}

function createDesk(names: ServiceNames, list: SessionStore) {
  const shared = { ...handlerOptions, enableLazyState: true };
  return object({
    name: names.desk,
    options: shared,
    handlers: {
      post: async (ctx: ObjectContext, request: PostRequest): Promise<PostReply> => {
        const posted = await ctx.run('post', () => post(list, request));
        if ('error' in posted) return posted;
        // Applied long ago: the caller finds its entry in the log.
        if ('answered' in posted) return { mail: { ...request, num: 0 } };
        if (posted.mail.reply === undefined) deliver(ctx, names, posted);
        return { mail: posted.mail };
      },
      /** Delivers a mail that is in the store already. */
      pick: async (ctx: ObjectContext, num: number): Promise<void> => {
        const stored = await ctx.run('mail', async () => {
          const [mail] = await list.readMail({ sessionId: ctx.key, isWaiting: true, after: num - 1, limit: 1 });
          return mail?.num === num ? toStoredMail(list, mail) : null;
        });
        if (stored !== null) deliver(ctx, names, stored);
      },
      /** Stores a report that a worker could not hand over at once. */
      report: async (ctx: ObjectContext, report: TurnReport): Promise<void> => {
        const [reply] = await storeReports(ctx, { names, list }, [report]);
        if (reply !== undefined && 'error' in reply) throw fromWire(reply.error);
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
      report: (ctx: Context, reports: readonly TurnReport[]): Promise<readonly ReportReply[]> =>
        storeReports(ctx, { names, list }, reports),
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
