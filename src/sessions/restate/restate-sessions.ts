// Sessions on Restate, for applications.
// Owns:     sending actions to the desk.
// Does not: read from the server: everything is read from the copy that the desk keeps.
import { isRecord, readJsonObject } from '../../lib/index.ts';
import type { InferOutput, InferState, Orchestrator } from '../../step-by-step/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions, SessionStore } from '../index.ts';
import { Agents, createSessionRuntime, findForks, fromWire } from '../index.ts';
import type { IngressOptions } from './ingress.ts';
import { openIngress } from './ingress.ts';
import type { PostReply, PostRequest } from './protocol.ts';
import { registryKey, toServiceNames } from './protocol.ts';

/** Options of restateSessions(). */
export interface RestateSessionsOptions<Given extends Orchestrator = Orchestrator> extends Pick<
  SessionRuntimeOptions<Given>,
  'agents' | 'states' | 'approvals' | 'onProblem' | 'clock' | 'ids'
> {
  readonly ingress: IngressOptions;
  /** Store in which the desk keeps its copy. */
  readonly list: SessionStore;
  /** Prefix of the service names. @default 'Stepline' */
  readonly prefix?: string;
}

/** Creates a store that posts mails to the desk. */
function toDeskStore({ list, ingress, prefix = 'Stepline' }: RestateSessionsOptions): SessionStore {
  const names = toServiceNames(prefix);
  const { call } = openIngress(ingress);
  const noteHolds = (): Promise<void> => call({ service: names.registry, key: registryKey, handler: 'noteHolds' }, {});
  const post: SessionStore['post'] = async (mail) => {
    const reply = await call<PostReply>({ service: names.desk, key: mail.sessionId, handler: 'post' }, mail satisfies PostRequest);
    if ('error' in reply) throw fromWire(readJsonObject(reply.error, 'reply'));
    return reply.mail;
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
  const runtime = createSessionRuntime({ ...rest, store: toDeskStore(options), role: 'client' });
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
