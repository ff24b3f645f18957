// The services of the desk.
// Owns:     accepting actions, the copy for readers, and notifications for workers.
// Does not: run sessions.
// B1. An action is accepted whether or not a worker lives: its turn waits in the server.
// B2. What a handler sends follows from what it has recorded.
// B3. A mail that others have put into the store gets its turn too, a little later: workers that live make the desk look.
// B4. A handler awaits one thing of its context at a time: the SDK ends attempts that await several with Promise.all.
import type { Context, EndpointOptions, ObjectContext, ObjectSharedContext } from '@restatedev/restate-sdk';
import { handlers, object, service, TimeoutError } from '@restatedev/restate-sdk';
import { SteplineError } from '../../lib/index.ts';
import type { LogEntry, Mail, SessionStore, StoredHold } from '../index.ts';
import { toWire } from '../index.ts';
import { applyChanges } from './desk-copy.ts';
import { noteWorker } from './desk-holder.ts';
import type {
  BellCall,
  BellCalls,
  EntryRange,
  PostReply,
  PostRequest,
  ServiceNames,
  TurnInput,
  TurnReport,
  WorkerSign,
} from './protocol.ts';
import { handlerOptions } from './handler-options.ts';
import type { MailLook } from './stray-mails.ts';
import { findStrayMails } from './stray-mails.ts';

/** Time for which a worker listens to its bell per call. */
const listenMs = 20_000;

/** Maximum number of calls that a bell stores for a worker that is not listening. */
const maxCalls = 200;

/** Least time between two looks for mails that the desk was not told of. */
const lookMs = 900;

/** Time after which a worker that gave no sign is forgotten. */
const forgetMs = 60_000;

type Send<Body> = (ctx: unknown, body: Body) => Promise<unknown>;

const sendTurn = (ctx: ObjectContext, { session }: ServiceNames, input: TurnInput): void =>
  void ctx.objectSendClient<{ turn: Send<TurnInput> }>({ name: session }, ctx.key).turn(input);

/** Makes a session send all it has: the store of the desk was lost. */
const askForCopy = (ctx: ObjectContext, { session }: ServiceNames): void =>
  void ctx.objectSendClient<{ copy: (ctx: unknown) => Promise<unknown> }>({ name: session }, ctx.key).copy();

const ring = (ctx: Context, { bell, worker }: Pick<ServiceNames, 'bell'> & { readonly worker: string }, calls: readonly BellCall[]): void =>
  void ctx.objectSendClient<{ ring: Send<readonly BellCall[]> }>({ name: bell }, worker).ring(calls);

/** Result of posting a mail. */
type Posted = { readonly mail: Mail; readonly holds: readonly string[] } | { readonly error: ReturnType<typeof toWire> };

async function post(list: SessionStore, mail: PostRequest): Promise<Posted> {
  try {
    const posted = await list.post(mail);
    return { mail: posted, holds: (await list.readHolds()).map(({ id }) => id) };
  } catch (error) {
    // A failing store is retried; any other error is a refusal.
    if (!SteplineError.is(error) || error.code === 'store-unavailable') throw error;
    return { error: toWire(error) };
  }
}

const toRequestKey = (requestId: string): string => `request/${requestId}`;

function createDesk(names: ServiceNames, list: SessionStore) {
  return object({
    name: names.desk,
    options: { ...handlerOptions, enableLazyState: true },
    handlers: {
      post: async (ctx: ObjectContext, request: PostRequest): Promise<PostReply> => {
        // Applied long ago: the caller finds its entry in the log.
        if ((await ctx.get<number>(toRequestKey(request.requestId))) !== null) return { mail: { ...request, num: 0 } };
        const posted = await ctx.run('post', () => post(list, request));
        if ('error' in posted) return posted;
        const { mail, holds } = posted;
        if (mail.reply !== undefined) return { mail };
        sendTurn(ctx, names, { mail, holds });
        const worker = await ctx.get<string>('worker');
        if (worker !== null) ring(ctx, { ...names, worker }, [{ type: 'mail', mail }]);
        return { mail };
      },
      /** Sees to a mail that is in the store already. */
      pick: async (ctx: ObjectContext, num: number): Promise<void> => {
        const worker = await ctx.get<string>('worker');
        const [mail] = await ctx.run('mail', () => list.readMail({ sessionId: ctx.key, isWaiting: true, after: num - 1, limit: 1 }));
        if (mail?.num !== num) return;
        sendTurn(ctx, names, { mail });
        if (worker !== null) ring(ctx, { ...names, worker }, [{ type: 'mail', mail }]);
      },
      report: async (ctx: ObjectContext, { changes, worker, isKnown = false }: TurnReport): Promise<void> => {
        // Not recorded: every attempt finds the same, because whatever the session sends waits behind this call.
        if (!(await applyChanges(list, ctx.key, changes))) askForCopy(ctx, names);
        for (const change of changes) {
          if (change.type === 'delete') ctx.clearAll();
          if (change.type !== 'write') continue;
          for (const { requestId, n } of change.entries ?? []) if (requestId !== undefined) ctx.set(toRequestKey(requestId), n);
        }
        if (worker === undefined) ctx.clear('worker');
        else if (!isKnown && worker !== (await ctx.get<string>('worker'))) {
          ctx.set('worker', worker);
          // Mails that arrived before the desk knew which worker to notify.
          const mails = await ctx.run('waiting', () => list.readMail({ sessionId: ctx.key, isWaiting: true }));
          if (mails.length > 0)
            ring(
              ctx,
              { ...names, worker },
              mails.map((mail) => ({ type: 'mail', mail })),
            );
        }
      },
      /** Returns the number of the last entry in the copy, with all reports before this call. */
      head: async (ctx: ObjectContext): Promise<number> => (await list.effects(ctx.key, { prefix: 'none' }))?.head ?? 0,
      entries: handlers.object.shared(
        { ...handlerOptions, enableLazyState: true },
        (ctx: ObjectSharedContext, { from, to }: EntryRange): Promise<readonly LogEntry[]> => list.entries(ctx.key, { from, to }),
      ),
      mails: handlers.object.shared({ ...handlerOptions, enableLazyState: true }, (ctx: ObjectSharedContext): Promise<readonly Mail[]> =>
        list.readMail({ sessionId: ctx.key, isWaiting: true }),
      ),
      header: handlers.object.shared({ ...handlerOptions, enableLazyState: true }, async (ctx: ObjectSharedContext) => {
        const found = await list.effects(ctx.key, { prefix: 'none' });
        return found && { header: found.header, head: found.head };
      }),
    },
  });
}

interface Listener {
  readonly id: string;
  /** Number of the last call that it has heard. */
  readonly heard: number;
}

/** Drops the calls up to a number. A bell that was cleared counts from the beginning. */
function dropHeard({ calls, upTo }: BellCalls, heard: number): BellCalls {
  const unheard = upTo < heard ? upTo : upTo - heard;
  return { calls: unheard === 0 ? [] : calls.slice(-unheard), upTo };
}

const readCalls = async (ctx: ObjectContext): Promise<BellCalls> => (await ctx.get<BellCalls>('calls')) ?? { calls: [], upTo: 0 };

/** Objects that keep what their workers have not heard yet: an answer may be lost on its way, so a call is kept until the next one. */
function createBell(names: ServiceNames) {
  return object({
    name: names.bell,
    options: handlerOptions,
    handlers: {
      ring: async (ctx: ObjectContext, more: readonly BellCall[]): Promise<void> => {
        const waiting = await ctx.get<string>('listener');
        const { calls, upTo } = await readCalls(ctx);
        const all: BellCalls = { calls: [...calls, ...more].slice(-maxCalls), upTo: upTo + more.length };
        ctx.set('calls', all);
        if (waiting === null) return;
        ctx.resolveAwakeable(waiting, all);
        ctx.clear('listener');
      },
      /** Returns the calls that were missed; if there are none, the listener is told of the next one. */
      arm: async (ctx: ObjectContext, { id, heard }: Listener): Promise<BellCalls> => {
        const missed = dropHeard(await readCalls(ctx), heard);
        ctx.set('calls', missed);
        if (missed.calls.length === 0) ctx.set('listener', id);
        return missed;
      },
      /** Forgets what a worker that is gone has not heard. */
      clear: async (ctx: ObjectContext): Promise<void> => ctx.clearAll(),
    },
  });
}

function createPorter(names: ServiceNames, list: SessionStore) {
  return service({
    name: names.porter,
    options: handlerOptions,
    handlers: {
      listen: async (ctx: Context, { worker, heard }: { readonly worker: string; readonly heard: number }): Promise<BellCalls> => {
        const { id, promise } = ctx.awakeable<BellCalls>();
        const bell = ctx.objectClient<{ arm: (ctx: unknown, listener: Listener) => Promise<BellCalls> }>({ name: names.bell }, worker);
        const missed = await bell.arm({ id, heard });
        if (missed.calls.length > 0) return missed;
        try {
          return await promise.orTimeout(listenMs);
        } catch (error) {
          if (error instanceof TimeoutError) return missed;
          throw error;
        }
      },
      holds: async (): Promise<readonly StoredHold[]> => list.readHolds(),
    },
  });
}

type KnownWorkers = Readonly<Record<string, number>>;

function createOffice(names: ServiceNames, list: SessionStore) {
  return object({
    name: names.office,
    options: handlerOptions,
    handlers: {
      sign: async (ctx: ObjectContext, sign: WorkerSign): Promise<void> => {
        const now = await ctx.date.now();
        const known = (await ctx.get<KnownWorkers>('workers')) ?? {};
        const alive = Object.entries({ ...known, [sign.id]: now }).filter(
          ([id, at]) => now - at < forgetMs && !(id === sign.id && sign.isLeaving === true),
        );
        ctx.set('workers', Object.fromEntries(alive));
        for (const worker of Object.keys(known).filter((id) => !alive.some(([other]) => other === id)))
          ctx.objectSendClient<{ clear: (ctx: unknown) => Promise<unknown> }>({ name: names.bell }, worker).clear();
        await noteWorker(list, sign, { now, signs: known });
        if (now - ((await ctx.get<number>('lookedAt')) ?? 0) < lookMs) return;
        const { strays, look } = await findStrayMails(ctx, list, (await ctx.get<MailLook>('look')) ?? undefined);
        ctx.set('lookedAt', now);
        ctx.set('look', look);
        for (const { sessionId, num } of strays) ctx.objectSendClient<{ pick: Send<number> }>({ name: names.desk }, sessionId).pick(num);
      },
      /** Looks through all mails again: their numbers start over in a new store. */
      lookAgain: async (ctx: ObjectContext): Promise<void> => ctx.clear('look'),
      /** Notifies all workers that holds have changed. */
      ringAll: async (ctx: ObjectContext): Promise<void> => {
        const known = (await ctx.get<KnownWorkers>('workers')) ?? {};
        for (const worker of Object.keys(known)) ring(ctx, { ...names, worker }, [{ type: 'holds' }]);
      },
    },
  });
}

/** Creates the services of a desk. */
export const createDeskServices = (names: ServiceNames, list: SessionStore): EndpointOptions['services'] => [
  createDesk(names, list),
  createBell(names),
  createPorter(names, list),
  createOffice(names, list),
];
