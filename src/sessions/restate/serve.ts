// Endpoints that a Restate server calls.
import type { EndpointOptions as SdkOptions, ObjectSharedContext } from '@restatedev/restate-sdk';
import { createEndpointHandler, handlers, object } from '@restatedev/restate-sdk';
import { createEndpointHandler as createFetchHandler } from '@restatedev/restate-sdk/fetch';
import type { Orchestrator } from '../../step-by-step/index.ts';
import { createDeskServices } from './desk-services.ts';
import { handlerOptions } from './handler-options.ts';
import { findKeptRequest } from './kept-chunks.ts';
import { toServiceNames } from './protocol.ts';
import type { EndpointOptions, ServeDeskOptions, ServeSessionsOptions } from './serve-options.ts';
import { createCopyHandler } from './send-copy.ts';
import { createTurnHandler } from './turn-handler.ts';
import { SessionWorkerHost } from './worker-host.ts';

/** An endpoint. Serve it, and register its address with the Restate server. */
export interface RestateEndpoint {
  /** Services to bind to an endpoint of your own. */
  readonly services: SdkOptions['services'];
  /** Handler for Node's `http2.createServer`. */
  readonly node: ReturnType<typeof createEndpointHandler>;
  /** Handler for platforms that use `Request` and `Response`. */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** Endpoint of a worker. */
export interface SessionsEndpoint extends RestateEndpoint {
  /** Announces the worker to the desk and listens for messages about its sessions. Call it once its address is registered. */
  start(): Promise<void>;
  /** Takes no more turns, lets open steps finish, and leaves the rest to other workers. */
  drain(options?: { readonly timeoutMs?: number }): Promise<void>;
}

function createEndpoint(services: SdkOptions['services'], { identityKeys }: EndpointOptions): RestateEndpoint {
  const options: SdkOptions = {
    services,
    // Attempts that end early are normal; the session reports the problems that matter.
    logger: () => undefined,
    ...(identityKeys !== undefined && { identityKeys: [...identityKeys] }),
  };
  return {
    services,
    node: createEndpointHandler(options),
    fetch: createFetchHandler({ ...options, bidirectional: true }),
  };
}

/** Creates the endpoint of the desk, which keeps the copy for readers. It needs no agents. */
export function serveDesk(options: ServeDeskOptions): RestateEndpoint {
  return createEndpoint(createDeskServices(toServiceNames(options.prefix ?? 'Stepline'), options.list), options);
}

/** Creates the endpoint of a worker, which runs the sessions that the server gives it. */
export function serveSessions<Given extends Orchestrator>(options: ServeSessionsOptions<Given>): SessionsEndpoint {
  // Holds: the worker passes each agent its own context and events.
  const host = new SessionWorkerHost(options);
  const lazy = { ...handlerOptions, enableLazyState: true };
  const session = object({
    name: host.names.session,
    options: lazy,
    handlers: {
      turn: createTurnHandler(host),
      copy: createCopyHandler(host),
      request: handlers.object.shared(
        lazy,
        async (ctx: ObjectSharedContext, requestId: string) => (await findKeptRequest(ctx, requestId)) ?? null,
      ),
    },
  });
  const desk = options.list === undefined ? [] : createDeskServices(host.names, options.list);
  return {
    ...createEndpoint([session, ...desk], options),
    start: () => host.start(),
    drain: ({ timeoutMs = 30_000 } = {}) => host.drain(timeoutMs),
  };
}
