// A server of the Pusher protocol, for development and tests: a page without any other server.
// Owns:     the listener, and what belongs to which app.
// Does not: keep events, or share channels with other processes: it is not made for production.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebSocket } from 'ws';
import { WebSocketServer } from 'ws';
import type { Clock } from '../../lib/index.ts';
import { checkKeys, describeValue, InvalidArgumentError, systemClock } from '../../lib/index.ts';
import type { PusherServerApp } from './apps.ts';
import { parseApps } from './apps.ts';
import { Channels } from './channels.ts';
import type { ProtocolProblem } from './close-codes.ts';
import { problems } from './close-codes.ts';
import { Connection } from './connection.ts';
import type { ApiAnswer } from './http-api.ts';
import { answer, refuse } from './http-api.ts';
import { readRequest } from './read-request.ts';
import { findSignatureProblem } from './signatures.ts';

/** Options of startPusherServer(). */
export interface PusherServerOptions {
  readonly apps: readonly PusherServerApp[];
  /** @default 0, one that is free */
  readonly port?: number;
  /** @default '127.0.0.1', which only programs on this machine reach */
  readonly host?: string;
  /** Most bytes of a request, headers included, and of a message of a page. @default 10_000 */
  readonly maxRequestBytes?: number;
  /** Silence after which a page is asked for a sign of life. @default 30_000 */
  readonly activityMs?: number;
  /** Time that a page has to give one. @default 30_000 */
  readonly pongMs?: number;
  /** Most events that a page may send to others. @default 10 */
  readonly clientEventsPerSecond?: number;
  readonly clock?: Clock;
}

/** A server of the Pusher protocol. */
export interface PusherServer {
  readonly host: string;
  readonly port: number;
  /** Address of its HTTP API. */
  readonly url: string;
  /** Closes all connections: clients connect again at once. */
  close(): Promise<void>;
}

interface HostedApp {
  readonly app: PusherServerApp;
  readonly channels: Channels;
  readonly connections: Set<Connection>;
}

type Settings = Required<Omit<PusherServerOptions, 'apps' | 'host' | 'port'>>;

const known = ['apps', 'port', 'host', 'maxRequestBytes', 'activityMs', 'pongMs', 'clientEventsPerSecond', 'clock'];
/** Versions of the protocol that are understood: the differences are in what clients may leave out. */
const versions = ['5', '6', '7'];
/** Bytes that wait for a slow page before it is given up. */
const maxBufferedBytes = 4_000_000;

const parseAddress = (address: string): URL | undefined =>
  URL.canParse(address, 'http://host') ? new URL(address, 'http://host') : undefined;

class Host {
  readonly #settings: Settings;
  readonly #apps: readonly HostedApp[];
  #lastSocket = 0;

  constructor(apps: readonly PusherServerApp[], settings: Settings) {
    this.#settings = settings;
    this.#apps = apps.map((app) => ({ app, channels: new Channels(), connections: new Set() }));
  }

  /** Answers a request to the HTTP API. */
  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body } = await this.#answer(request).catch(() => refuse(400, 'The request could not be read.'));
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  /** Takes the connection of a page. */
  connect(socket: WebSocket, address: string): void {
    // Whatever cannot be read is an unknown path.
    const url = parseAddress(address);
    const [, key] = /^\/app\/([^/]+)$/.exec(url?.pathname ?? '') ?? [];
    const hosted = this.#apps.find(({ app }) => app.key === key);
    const problem = this.#findProblem(key, hosted, url?.searchParams.get('protocol') ?? null);
    if (hosted === undefined || problem !== undefined) refuseSocket(socket, problem ?? problems.unknownApp);
    else this.#accept(socket, hosted);
  }

  /** Says goodbye to all pages. */
  closeAll(): void {
    for (const { connections } of this.#apps) for (const connection of [...connections]) connection.close(problems.closing);
  }

  #findProblem(key: string | undefined, hosted: HostedApp | undefined, protocol: string | null): ProtocolProblem | undefined {
    if (key === undefined) return problems.unknownPath;
    if (hosted === undefined) return problems.unknownApp;
    if (protocol === null) return problems.noProtocol;
    if (!versions.includes(protocol)) return problems.unsupportedProtocol;
    return hosted.connections.size >= (hosted.app.maxConnections ?? Infinity) ? problems.overQuota : undefined;
  }

  #accept(socket: WebSocket, { app, channels, connections }: HostedApp): void {
    this.#lastSocket += 1;
    const line = {
      send: (text: string): void => {
        if (socket.bufferedAmount > maxBufferedBytes) socket.terminate();
        else socket.send(text);
      },
      close: (code: number, reason: string): void => socket.close(code, reason),
    };
    const connection = new Connection(`${process.pid}.${this.#lastSocket}`, line, { ...this.#settings, app, channels });
    connections.add(connection);
    socket.on('message', (data: Buffer, isBinary) => connection.receive(isBinary ? '' : data.toString()));
    socket.on('close', () => {
      connections.delete(connection);
      connection.leave();
    });
  }

  async #answer(request: IncomingMessage): Promise<ApiAnswer> {
    const { method = '' } = request;
    const url = new URL(request.url ?? '/', 'http://host');
    const body = await readRequest(request, this.#settings.maxRequestBytes);
    if (body === undefined) return refuse(413, 'Payload too large.');
    if (url.pathname === '/up') return { status: 200, body: { health: 'OK' } };
    const [, appId, path = ''] = /^\/apps\/([^/]+)(\/.+)$/.exec(url.pathname) ?? [];
    const hosted = this.#apps.find(({ app }) => app.appId === appId);
    if (hosted === undefined) return refuse(404, `No matching application for ID ${describeValue(appId)}.`);
    const { app, channels } = hosted;
    const query = url.searchParams;
    const problem = findSignatureProblem(app, { method, path: url.pathname, query, body }, this.#settings.clock.now());
    return problem === undefined ? answer({ app, channels, method, path, query, body: body.toString() }) : refuse(401, problem);
  }
}

function refuseSocket(socket: WebSocket, problem: ProtocolProblem): void {
  socket.send(JSON.stringify({ event: 'pusher:error', data: JSON.stringify(problem) }));
  socket.close(problem.code, problem.message);
}

async function listen(server: Server, port: number, host: string): Promise<AddressInfo> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => resolve());
  });
  // Holds: it listens on a port, not on a pipe.
  return server.address() as AddressInfo;
}

/** Starts a server of the Pusher protocol for development and tests. It needs the package `ws`. */
export async function startPusherServer(options: PusherServerOptions): Promise<PusherServer> {
  checkKeys('startPusherServer()', options, known);
  const { port = 0, host = '127.0.0.1', maxRequestBytes = 10_000, clock = systemClock } = options;
  if (!(maxRequestBytes > 0))
    throw new InvalidArgumentError(`maxRequestBytes must be a number above 0, not ${describeValue(maxRequestBytes)}.`);
  const { activityMs = 30_000, pongMs = 30_000, clientEventsPerSecond = 10 } = options;
  const settings = { maxRequestBytes, activityMs, pongMs, clientEventsPerSecond, clock };
  const hosted = new Host(parseApps(options.apps), settings);
  const server = createServer((request, response) => void hosted.handle(request, response));
  const sockets = new WebSocketServer({ server, maxPayload: maxRequestBytes });
  sockets.on('connection', (socket, { url }) => {
    // An error is followed by the end of the connection.
    socket.on('error', () => undefined);
    hosted.connect(socket, url ?? '/');
  });
  const address = await listen(server, port, host);
  return {
    host,
    port: address.port,
    url: `http://${host}:${address.port}`,
    close: async () => {
      hosted.closeAll();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      sockets.close();
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await closed;
    },
  };
}
