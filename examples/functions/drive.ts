// A function without a worker beside it: each request drives one session for a while.
// Owns:     what a request does, and when the caller has to come again.
// Does not: know who may ask for what. Check that before.
// Copy it and serve it wherever a handler of requests runs.
import type { Actor, EmbeddedRuntime, RunOnceResult, SessionStore, SessionWait } from 'stepline/sessions';

/** Answer to a request. */
export interface Progress {
  readonly status: string;
  readonly text: string;
  readonly waitingFor: readonly SessionWait[];
  /** Time after which to ask for `run`; absent if nothing is left to do until somebody acts. */
  readonly againInMs?: number;
}

/** Body of a request. The request id makes it safe to repeat, whatever became of the function. */
interface Body {
  readonly requestId: string;
  readonly text?: string;
  readonly wait?: SessionWait;
}

interface FunctionOptions {
  /** Runtime with role `client`: it runs nothing but what a request asks for. */
  readonly runtime: EmbeddedRuntime;
  readonly store: SessionStore;
  readonly by: Actor;
  /** Time after which a session is left between two steps, to the next request. @default 10 s */
  readonly untilMs?: number;
}

function getDelay(ran: RunOnceResult): Pick<Progress, 'againInMs'> {
  if (ran.type === 'left') return { againInMs: 0 };
  // By another function.
  if (ran.type === 'owned') return { againInMs: 1000 };
  return ran.wakeAt === undefined ? {} : { againInMs: Math.max(0, ran.wakeAt - Date.now()) };
}

/** Lists sessions that were left, as by a caller who has gone, and those whose time has come. Ask for `run` on each, once a minute. */
async function listDue({ heads, inbox }: SessionStore): Promise<readonly string[]> {
  const [left, woken, mails] = await Promise.all([
    heads.list({ isOpen: true, limit: 100 }),
    heads.list({ wakeBefore: Date.now(), limit: 100 }),
    inbox.read({ isWaiting: true, limit: 100 }),
  ]);
  return [...new Set([...[...left.sessions, ...woken.sessions].map(({ id }) => id), ...mails.map(({ sessionId }) => sessionId)])];
}

/** Creates the function: `POST /sessions/<id>/messages`, `/approvals` or `/run`, and `POST /due`. */
export function createFunction({ runtime, store, by, untilMs = 10_000 }: FunctionOptions): (request: Request) => Promise<Response> {
  const drive = async (id: string): Promise<Progress> => {
    const ran = await runtime.runOnce(id, { untilMs });
    const { status, text, waitingFor } = ran.type === 'owned' ? await runtime.get(id) : ran.session;
    return { status, text, waitingFor, ...getDelay(ran) };
  };
  const act = async (id: string, { requestId, text, wait }: Body): Promise<void> => {
    const options = { by, requestId, until: 'accepted' } as const;
    if (wait !== undefined) await runtime.approve(id, wait, options);
    if (text === undefined) return;
    await runtime.create({ id, owner: by.id }, { by, requestId: `create ${id}` });
    await runtime.send(id, text, options);
  };
  return async (request) => {
    const { pathname } = new URL(request.url);
    const [, id, what] = /^\/sessions\/([^/]+)\/(messages|approvals|run)$/.exec(pathname) ?? [];
    try {
      if (pathname === '/due') return Response.json(await listDue(store));
      if (id === undefined) return new Response(null, { status: 404 });
      // Holds: the caller writes these fields; the runtime checks them.
      if (what !== 'run') await act(id, (await request.json()) as Body);
      return Response.json(await drive(id));
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
      const { code, message } = error;
      return Response.json({ code, message }, { status: code === 'store-unavailable' ? 503 : 409 });
    }
  };
}
