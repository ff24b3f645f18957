// A proxy whose connections can die without a word, as they do when a laptop sleeps: nothing more comes, and nobody says so.
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface SilentProxy {
  readonly url: string;
  /** Passes nothing more on the connections of now. New ones work. */
  silence(): void;
}

/** Starts a proxy in front of a server; it ends with the test. */
export async function openProxy(target: string): Promise<SilentProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  const server = createServer((socket) => {
    const upstream = connect({ port: Number(new URL(target).port), host: '127.0.0.1' });
    const pair = [socket, upstream] as const;
    pairs.add(pair);
    for (const [one, other] of [pair, [upstream, socket] as const]) {
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => pairs.delete(pair));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    server.close();
  });
  return {
    // Holds: it listens on a port, not on a pipe.
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    silence: () => {
      for (const [socket, upstream] of pairs) {
        socket.unpipe(upstream);
        upstream.unpipe(socket);
        socket.resume();
        upstream.resume();
      }
    },
  };
}
