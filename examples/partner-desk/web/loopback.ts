// A server that only this machine can reach.
import type { RequestListener, Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface LoopbackServer {
  readonly port: number;
  close(): Promise<void>;
}

const getCode = (error: unknown): unknown => (error instanceof Error ? Reflect.get(error, 'code') : undefined);

/** True if another program listens on the port, or if this user may not. */
export const isPortTaken = (error: unknown): boolean => ['EADDRINUSE', 'EACCES'].includes(String(getCode(error)));

/** True if the machine has no such address. */
const isNoAddress = (error: unknown): boolean => ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(String(getCode(error)));

function listen(listener: RequestListener, port: number, host: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer(listener);
    server.once('error', reject);
    server.listen(port, host, () => resolve(server));
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Listens on both loopback addresses, because "localhost" may mean either. 0 chooses a free port. */
export async function listenOnLoopback(listener: RequestListener, wanted: number): Promise<LoopbackServer> {
  const first = await listen(listener, wanted, '127.0.0.1');
  // Holds: it listens on a port, not on a pipe.
  const { port } = first.address() as AddressInfo;
  const servers = [first];
  try {
    servers.push(await listen(listener, port, '::1'));
  } catch (error) {
    if (!isNoAddress(error)) {
      await close(first);
      throw error;
    }
  }
  return {
    port,
    close: async () => {
      await Promise.all(servers.map(close));
    },
  };
}
