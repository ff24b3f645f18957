// Endpoints that a Restate server calls.
import type { EndpointOptions as SdkOptions } from '@restatedev/restate-sdk';
import { createEndpointHandler, object } from '@restatedev/restate-sdk';
import { createEndpointHandler as createFetchHandler } from '@restatedev/restate-sdk/fetch';
import type { Orchestrator } from '../../step-by-step/index.ts';
import { createDeskServices } from './desk-services.ts';
import { handlerOptions } from './handler-options.ts';
import { toServiceNames } from './protocol.ts';
import type { EndpointOptions, ServeDeskOptions, ServeSessionsOptions } from './serve-options.ts';
import { createTurnHandler } from './turn-handler.ts';
import { SessionWorkerHost } from './worker-host.ts';

/** Something to serve: register its address with the server. */
export interface RestateEndpoint {
  /** Services to bind to an endpoint of your own. */
  readonly services: SdkOptions['services'];
  /** Handler for `http2.createServer` of Node. */
  readonly node: ReturnType<typeof createEndpointHandler>;
  /** Handler for platforms that speak `Request` and `Response`. */
  readonly fetch: (request: Request) => Promise<Response>;
}

/** A worker. */
export interface SessionsEndpoint extends RestateEndpoint {
  /** Shows that it is there, and listens for what concerns its sessions. Call it once its address is registered. */
  start(): Promise<void>;
  /** Takes no more turns, lets open steps end, and leaves the rest to other workers. */
  drain(options?: { readonly timeoutMs?: number }): Promise<void>;
}

function createEndpoint(services: SdkOptions['services'], { identityKeys }: EndpointOptions): RestateEndpoint {
  const options: SdkOptions = {
    services,
    // Attempts that end early are part of the game: whoever runs the session is told what matters.
    logger: () => undefined,
    ...(identityKeys !== undefined && { identityKeys: [...identityKeys] }),
  };
  return {
    services,
    node: createEndpointHandler(options),
    fetch: createFetchHandler({ ...options, bidirectional: true }),
  };
}

/** Serves the desk: it accepts actions, and keeps the copy that everybody reads. It needs no agents. */
export function serveDesk(options: ServeDeskOptions): RestateEndpoint {
  return createEndpoint(createDeskServices(toServiceNames(options.prefix ?? 'Stepline'), options.list), options);
}

/** Serves a worker: it runs the sessions that the server gives it. */
export function serveSessions<Given extends Orchestrator>(options: ServeSessionsOptions<Given>): SessionsEndpoint {
  // Holds: the worker hands each agent its own context and events.
  const host = new SessionWorkerHost(options);
  const session = object({
    name: host.names.session,
    options: { ...handlerOptions, enableLazyState: true },
    handlers: { turn: createTurnHandler(host) },
  });
  const desk = options.list === undefined ? [] : createDeskServices(host.names, options.list);
  return {
    ...createEndpoint([session, ...desk], options),
    start: () => host.start(),
    drain: ({ timeoutMs = 30_000 } = {}) => host.drain(timeoutMs),
  };
}
