// One address for several workers: each connection goes to the next worker that accepts it.
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { connect, createServer } from 'node:net';

export interface Balancer {
  readonly url: string;
  close(): void;
}

async function open(port: number): Promise<Socket | undefined> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return socket;
  } catch {
    return undefined;
  }
}

/** Opens an address on loopback. Skips ports that nobody listens on. */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  let next = 0;
  const sockets = new Set<Socket>();
  const join = async (client: Socket): Promise<void> => {
    client.pause();
    for (const _ of ports) {
      const port = ports[(next += 1) % ports.length] ?? 0;
      const worker = await open(port);
      if (worker === undefined) continue;
      for (const [one, other] of [
        [client, worker],
        [worker, client],
      ] as const) {
        sockets.add(one);
        one.on('error', () => other.destroy());
        one.on('close', () => {
          sockets.delete(one);
          other.destroy();
        });
        one.pipe(other);
      }
      return;
    }
    client.destroy();
  };
  const server = createServer((client) => {
    client.on('error', () => client.destroy());
    void join(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    // Holds: it listens on a port.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
