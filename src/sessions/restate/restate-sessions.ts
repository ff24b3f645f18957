// Sessions on Restate, for applications.
// Owns:     putting actions into the store, and telling the server of them.
// Does not: read from the server: everything is read from the copy that the desk keeps.
// X1. An action is accepted once it is in the store, whether or not a worker, the desk or the server lives.
import { reportSafely, reportToConsole } from '../../events/index.ts';
import { isRecord } from '../../lib/index.ts';
import type { InferOutput, InferState, Orchestrator } from '../../step-by-step/index.ts';
import type { EmbeddedRuntime, Mail, SessionRuntimeOptions, SessionStore } from '../index.ts';
import { Agents, createSessionRuntime, findForks } from '../index.ts';
import type { IngressOptions } from './ingress.ts';
import { openIngress } from './ingress.ts';
import { planDelivery } from './mail-delivery.ts';
import { toNotices } from './notices.ts';
import { registryKey, toServiceNames } from './protocol.ts';

/** Options of restateSessions(). */
export interface RestateSessionsOptions<Given extends Orchestrator = Orchestrator> extends Pick<
  SessionRuntimeOptions<Given>,
  'agents' | 'states' | 'approvals' | 'onProblem' | 'clock' | 'ids'
> {
  readonly ingress: IngressOptions;
  /** Store of the desk: the application reads its copy, and puts actions into it. */
  readonly list: SessionStore;
  /** Prefix of the service names. @default 'Stepline' */
  readonly prefix?: string;
}

/** Longest time that a caller waits for the server to know of its action. After that, workers find it in the store. */
const deliverMs = 2000;

/** Creates a store that tells the server of new mails and holds. */
function wrapStore({ list, ingress, prefix = 'Stepline', onProblem }: RestateSessionsOptions): SessionStore {
  const names = toServiceNames(prefix);
  const { call } = openIngress(ingress);
  const noteHolds = (): Promise<void> => call({ service: names.registry, key: registryKey, handler: 'noteHolds' }, {});
  const deliver = async (mail: Mail): Promise<void> => {
    const { turn, workers } = await planDelivery(list, mail);
    const signal = AbortSignal.timeout(deliverMs);
    await call({ service: names.session, key: mail.sessionId, handler: 'turn', isOneWay: true }, turn, signal);
    for (const worker of workers)
      await call({ service: names.notices, key: worker, handler: 'add', isOneWay: true }, toNotices(turn), signal);
  };
  const post: SessionStore['post'] = async (mail) => {
    const posted = await list.post(mail);
    if (posted.reply === undefined)
      await deliver(posted).catch((error: unknown) =>
        reportSafely(onProblem ?? reportToConsole, error, `an action of session ${mail.sessionId}, which workers will find in the store`),
      );
    return posted;
  };
  const changes: Partial<SessionStore> = {
    post,
    putHold: async (hold) => {
      await list.putHold(hold);
      await noteHolds();
    },
    dropHold: async (id) => {
      const wasThere = await list.dropHold(id);
      if (wasThere) await noteHolds();
      return wasThere;
    },
  };
  return new Proxy(list, {
    get: (target, name) => {
      const changed: unknown = Reflect.get(changes, name);
      if (changed !== undefined) return changed;
      const own: unknown = Reflect.get(target, name);
      return typeof own === 'function' ? (...args: readonly unknown[]): unknown => Reflect.apply(own, target, args) : own;
    },
  });
}

/**
 * Names the agent of a new session. An agent that the application does not know is refused here: workers keep what they cannot do yet for a
 * worker that can.
 */
function toNamed<Request extends { readonly agent?: string }>(request: Request, { agents, states }: RestateSessionsOptions): Request {
  const known = new Agents(agents);
  if (states !== undefined && request.agent !== undefined && known.find(request.agent) === undefined) return request;
  return { ...request, agent: known.newest(request.agent).id };
}

/** Creates a session runtime for sessions on Restate. It works like the runtime of one process, but workers run the sessions. */
export function restateSessions<Given extends Orchestrator>(
  options: RestateSessionsOptions<Given>,
): EmbeddedRuntime<InferState<Given>, InferOutput<Given>>;
export function restateSessions(options: RestateSessionsOptions): EmbeddedRuntime {
  const { ingress: _, list, prefix: __, ...rest } = options;
  const runtime = createSessionRuntime({ ...rest, store: wrapStore(options), role: 'client' });
  const createOne = runtime.create.bind(runtime);
  const create: EmbeddedRuntime['create'] = async (request, action) =>
    createOne(isRecord(request) ? toNamed(request, options) : request, action);
  const deleteOne = runtime.delete.bind(runtime);
  const remove: EmbeddedRuntime['delete'] = async (sessionId, { forks = false, ...action }) => {
    if (forks)
      for (const fork of await findForks(list, sessionId)) {
        const { requestId } = action;
        await remove(fork, { ...action, forks, ...(requestId !== undefined && { requestId: `${requestId}/${fork}` }) });
      }
    await deleteOne(sessionId, action);
  };
  return Object.assign(runtime, { create, delete: remove });
}
