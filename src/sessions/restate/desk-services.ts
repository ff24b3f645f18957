// The services of the desk.
// Owns:     accepting actions, the copy for readers, and what workers have to hear.
// Does not: run sessions.
// B1. An action is accepted whether or not a worker lives: its turn waits in the server.
// B2. What a handler sends follows from what it has recorded.
// B3. A handler awaits one thing of its context at a time: the SDK ends attempts that await several with Promise.all.
import type { Context, EndpointOptions, ObjectContext, ObjectSharedContext } from '@restatedev/restate-sdk';
import { handlers, object, service, TimeoutError } from '@restatedev/restate-sdk';
import { SteplineError } from '../../lib/index.ts';
import type { LogEntry, Mail, SessionStore, StoredHold } from '../index.ts';
import { toWire } from '../index.ts';
import { applyChanges } from './desk-copy.ts';
import { noteWorker } from './desk-holder.ts';
import type { BellCall, EntryRange, PostReply, PostRequest, ServiceNames, TurnInput, TurnReport, WorkerSign } from './protocol.ts';
import { handlerOptions } from './handler-options.ts';

/** Time that a worker waits at its bell. */
const listenMs = 20_000;

/** Calls that a bell keeps for a worker that does not listen. */
const maxCalls = 200;

/** Time after which a worker that gave no sign is forgotten. */
const forgetMs = 60_000;

type Send<Body> = (ctx: unknown, body: Body) => Promise<unknown>;

const sendTurn = (ctx: ObjectContext, { session }: ServiceNames, input: TurnInput): void =>
  void ctx.objectSendClient<{ turn: Send<TurnInput> }>({ name: session }, ctx.key).turn(input);

const ring = (ctx: Context, { bell, worker }: Pick<ServiceNames, 'bell'> & { readonly worker: string }, calls: readonly BellCall[]): void =>
  void ctx.objectSendClient<{ ring: Send<readonly BellCall[]> }>({ name: bell }, worker).ring(calls);

/** The findings of posting a mail. */
type Posted = { readonly mail: Mail; readonly holds: readonly string[] } | { readonly error: ReturnType<typeof toWire> };

async function post(list: SessionStore, mail: PostRequest): Promise<Posted> {
  try {
    const posted = await list.post(mail);
    return { mail: posted, holds: (await list.readHolds()).map(({ id }) => id) };
  } catch (error) {
    // A store that fails is tried again; everything else is a refusal.
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
        // Applied long ago: whoever asks finds its entry in the log.
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
      report: async (ctx: ObjectContext, { changes, worker, isKnown = false }: TurnReport): Promise<void> => {
        await applyChanges(list, ctx.key, changes);
        for (const change of changes) {
          if (change.type === 'delete') ctx.clearAll();
          if (change.type !== 'write') continue;
          for (const { requestId, n } of change.entries ?? []) if (requestId !== undefined) ctx.set(toRequestKey(requestId), n);
        }
        if (worker === undefined) ctx.clear('worker');
        else if (!isKnown && worker !== (await ctx.get<string>('worker'))) {
          ctx.set('worker', worker);
          // Mails that came before the desk knew whom to tell.
          const mails = await ctx.run('waiting', () => list.readMail({ sessionId: ctx.key, isWaiting: true }));
          if (mails.length > 0)
            ring(
              ctx,
              { ...names, worker },
              mails.map((mail) => ({ type: 'mail', mail })),
            );
        }
      },
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

/** Objects that keep what their workers have not heard yet. */
function createBell(names: ServiceNames) {
  return object({
    name: names.bell,
    options: handlerOptions,
    handlers: {
      ring: async (ctx: ObjectContext, calls: readonly BellCall[]): Promise<void> => {
        const waiting = await ctx.get<string>('listener');
        const all = [...((await ctx.get<readonly BellCall[]>('calls')) ?? []), ...calls].slice(-maxCalls);
        if (waiting === null) {
          ctx.set('calls', all);
          return;
        }
        ctx.resolveAwakeable(waiting, all);
        ctx.clearAll();
      },
      /** Returns the calls that were missed; if there are none, the listener is told of the next one. */
      arm: async (ctx: ObjectContext, listener: string): Promise<readonly BellCall[]> => {
        const calls = (await ctx.get<readonly BellCall[]>('calls')) ?? [];
        if (calls.length === 0) ctx.set('listener', listener);
        else ctx.clearAll();
        return calls;
      },
    },
  });
}

function createPorter(names: ServiceNames, list: SessionStore) {
  return service({
    name: names.porter,
    options: handlerOptions,
    handlers: {
      listen: async (ctx: Context, { worker }: { readonly worker: string }): Promise<readonly BellCall[]> => {
        const { id, promise } = ctx.awakeable<readonly BellCall[]>();
        const bell = ctx.objectClient<{ arm: (ctx: unknown, id: string) => Promise<readonly BellCall[]> }>({ name: names.bell }, worker);
        const missed = await bell.arm(id);
        if (missed.length > 0) return missed;
        try {
          return await promise.orTimeout(listenMs);
        } catch (error) {
          if (error instanceof TimeoutError) return [];
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
        await noteWorker(list, sign, { now, signs: known });
      },
      /** Tells all workers that holds have changed. */
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
