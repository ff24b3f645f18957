// A server of the Pusher protocol, clients of it, and sessions that are mirrored to it, for tests.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import LaravelEcho from 'laravel-echo';
import PusherLibrary from 'pusher';
import type { Options } from 'pusher-js';
import pusherModule from 'pusher-js';
import { onTestFinished, vi } from 'vitest';
import type { SessionHandlerOptions } from '../../src/broadcasting/http/index.ts';
import { createSessionHandler, toNodeListener } from '../../src/broadcasting/http/index.ts';
import type { PusherBroadcaster, PusherBroadcasterOptions } from '../../src/broadcasting/pusher/index.ts';
import { createPusherBroadcaster, createPusherChannels } from '../../src/broadcasting/pusher/index.ts';
import type { PusherServer, PusherServerOptions } from '../../src/broadcasting/pusher-server/index.ts';
import { startPusherServer } from '../../src/broadcasting/pusher-server/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions } from '../../src/sessions/index.ts';
import { createMemoryStore, createSessionRuntime } from '../../src/sessions/index.ts';
import type { Orchestrator } from '../../src/step-by-step/index.ts';
import { authenticate, authorize, listen, newSession } from '../http/stage.ts';

// Holds: in Node the module is the class itself, which its types do not say.
const PusherClient = pusherModule as unknown as typeof pusherModule.default;
export type PusherClient = InstanceType<typeof PusherClient>;

export const app = { appId: 'app-1', key: 'key-1', secret: 'a secret of the app' };

/** Waits until a check passes. */
export const until = (check: () => void | Promise<void>): Promise<void> => vi.waitFor(check, { interval: 5, timeout: 8000 });

export async function startServer(options: Partial<PusherServerOptions> = {}): Promise<PusherServer> {
  const server = await startPusherServer({ apps: [app], ...options });
  onTestFinished(() => server.close());
  return server;
}

type Address = Pick<PusherServer, 'host' | 'port'>;

/** Opens a client of pusher-js. */
export function openClient({ host, port }: Address, options: Partial<Options> = {}, key: string = app.key): PusherClient {
  const client = new PusherClient(key, { cluster: '', wsHost: host, wsPort: port, forceTLS: false, enabledTransports: ['ws'], ...options });
  onTestFinished(() => client.disconnect());
  return client;
}

/** Options with which a site authorizes the private channels of a caller. */
export const authorizedBy = (site: { readonly url: string }, caller: string): Partial<Options> => ({
  channelAuthorization: { endpoint: `${site.url}/channels/auth`, transport: 'ajax', headers: { 'x-caller': caller } },
});

/** Opens a client of laravel-echo, for Reverb. Its private channels are authorized by a site. */
export function openEcho({ host, port }: PusherServer, site: { readonly url: string }, caller: string): LaravelEcho<'reverb'> {
  const echo = new LaravelEcho({
    broadcaster: 'reverb',
    Pusher: pusherModule,
    key: app.key,
    wsHost: host,
    wsPort: port,
    forceTLS: false,
    enabledTransports: ['ws'],
    authEndpoint: `${site.url}/channels/auth`,
    auth: { headers: { 'x-caller': caller } },
  });
  onTestFinished(() => echo.disconnect());
  return echo;
}

/** Opens the library of servers. */
export const openLibrary = ({ host, port }: PusherServer, keys: typeof app = app): PusherLibrary =>
  new PusherLibrary({ ...keys, host, port: String(port), useTLS: false });

/** Sessions over HTTP that are mirrored to a server of the protocol. */
export interface MirroredSite {
  readonly url: string;
  readonly runtime: EmbeddedRuntime;
  readonly reverb: PusherBroadcaster;
  readonly problems: readonly unknown[];
  /** Stops the server, its runtime and its broadcaster. */
  stop(): Promise<void>;
}

export interface MirrorOptions {
  readonly agents: readonly Orchestrator[];
  /** Address of the server of channels. */
  readonly url: string;
  readonly broadcaster?: Partial<PusherBroadcasterOptions>;
  readonly handler?: Partial<SessionHandlerOptions>;
  readonly runtime?: Partial<SessionRuntimeOptions>;
  /** @default 0, one that is free */
  readonly port?: number;
  /** Answers a request in place of the handler of sessions, if it returns true. */
  readonly serve?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

export async function openMirroredSite(options: MirrorOptions): Promise<MirroredSite> {
  const { agents, url, broadcaster = {}, handler = {}, serve, port = 0 } = options;
  const problems: unknown[] = [];
  const onProblem = (error: unknown): void => void problems.push(error);
  const reverb = createPusherBroadcaster({ ...app, url, onProblem, ...broadcaster });
  onTestFinished(() => reverb.close(0));
  const runtime = createSessionRuntime({ agents, store: createMemoryStore(), onEvent: reverb.broadcast, ...options.runtime });
  onTestFinished(() => runtime.drain({ timeoutMs: 0 }));
  const { key, secret } = app;
  const handle = createSessionHandler(runtime, {
    authenticate,
    authorize,
    newSession,
    onProblem,
    channels: createPusherChannels({ key, secret }),
    ...handler,
  });
  const serveSessions = toNodeListener(handle);
  const server = createServer((request, response) => {
    if (serve?.(request, response) !== true) serveSessions(request, response);
  });
  const stop = async (): Promise<void> => {
    server.close().closeAllConnections();
    await runtime.drain();
    await reverb.close();
  };
  return { url: await listen(server, port), runtime, reverb, problems, stop };
}
