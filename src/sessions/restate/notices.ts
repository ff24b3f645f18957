// Notices for workers.
// Owns:     what a worker has not received yet, and the wait for more.
// A1. A notice is kept until the worker says that it has it: an answer may be lost on its way.
// A2. A worker that does not ask gets the newest notices only. Whatever they were about reaches it later, with a turn.
import type { Context, EndpointOptions, ObjectContext } from '@restatedev/restate-sdk';
import { object, TimeoutError } from '@restatedev/restate-sdk';
import { handlerOptions } from './handler-options.ts';
import type { Notice, PendingNotices, ServiceNames, TurnInput } from './protocol.ts';

/** Longest time that a worker waits for a notice per call. */
const waitMs = 20_000;

/** Maximum number of notices that are kept for a worker. */
const maxNotices = 200;

interface Waiter {
  /** Id of the awakeable to resolve. */
  readonly id: string;
  /** Number of the last notice that the worker has received. */
  readonly received: number;
}

interface NoticeHandlers {
  readonly add: (ctx: unknown, notices: readonly Notice[]) => Promise<void>;
  readonly take: (ctx: unknown, waiter: Waiter) => Promise<PendingNotices>;
  readonly clear: (ctx: unknown) => Promise<void>;
}

/** Drops the notices up to a number. An object that was cleared counts from the beginning. */
function dropReceived({ notices, upTo }: PendingNotices, received: number): PendingNotices {
  const left = upTo < received ? upTo : upTo - received;
  return { notices: left === 0 ? [] : notices.slice(-left), upTo };
}

const readPending = async (ctx: ObjectContext): Promise<PendingNotices> =>
  (await ctx.get<PendingNotices>('pending')) ?? { notices: [], upTo: 0 };

/** Creates the objects that keep notices, one per worker. */
export function createNotices(names: ServiceNames): EndpointOptions['services'][number] {
  return object({
    name: names.notices,
    options: handlerOptions,
    handlers: {
      add: async (ctx: ObjectContext, more: readonly Notice[]): Promise<void> => {
        const waiter = await ctx.get<string>('waiter');
        const { notices, upTo } = await readPending(ctx);
        const all: PendingNotices = { notices: [...notices, ...more].slice(-maxNotices), upTo: upTo + more.length };
        ctx.set('pending', all);
        if (waiter === null) return;
        ctx.resolveAwakeable(waiter, all);
        ctx.clear('waiter');
      },
      /** Returns the notices that were missed; if there are none, the waiter gets the next one. */
      take: async (ctx: ObjectContext, { id, received }: Waiter): Promise<PendingNotices> => {
        const missed = dropReceived(await readPending(ctx), received);
        ctx.set('pending', missed);
        if (missed.notices.length === 0) ctx.set('waiter', id);
        return missed;
      },
      /** Forgets a worker that is gone. */
      clear: async (ctx: ObjectContext): Promise<void> => ctx.clearAll(),
    } satisfies { [Name in keyof NoticeHandlers]: (ctx: ObjectContext, body: never) => Promise<unknown> },
  });
}

/** Notice of the mail that a turn is for. */
export const toNotices = ({ mails = [] }: TurnInput): readonly Notice[] => mails.slice(-1).map((mail) => ({ type: 'mail', mail }));

/** A worker, and the services to reach it through. */
interface NoticeAddress {
  readonly names: ServiceNames;
  readonly worker: string;
}

export const sendNotices = (ctx: Context, { names, worker }: NoticeAddress, notices: readonly Notice[]): void =>
  void ctx.objectSendClient<NoticeHandlers>({ name: names.notices }, worker).add(notices);

export const clearNotices = (ctx: Context, { names, worker }: NoticeAddress): void =>
  void ctx.objectSendClient<NoticeHandlers>({ name: names.notices }, worker).clear();

/** Waits until there are notices for a worker, or the time is up. */
export async function waitForNotices(ctx: Context, { names, worker }: NoticeAddress, received: number): Promise<PendingNotices> {
  const { id, promise } = ctx.awakeable<PendingNotices>();
  const missed = await ctx.objectClient<NoticeHandlers>({ name: names.notices }, worker).take({ id, received });
  if (missed.notices.length > 0) return missed;
  try {
    return await promise.orTimeout(waitMs);
  } catch (error) {
    if (error instanceof TimeoutError) return missed;
    throw error;
  }
}
