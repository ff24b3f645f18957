// A proxy in front of Postgres that cuts connections around a commit.
// X1. `answer`: the commit reaches the server, its answer does not reach the client.
// X2. `commit`: the commit does not reach the server.
import type { Socket } from 'node:net';
import { connect, createServer } from 'node:net';

export type Cut = 'answer' | 'commit';

export interface Proxy {
  readonly port: number;
  /** Cuts the connection of the next commit. */
  armCut(cut: Cut): void;
  /** Cuts that were made. */
  readonly cuts: readonly Cut[];
  close(): Promise<void>;
}

/** A message of the protocol that begins with a commit. */
const commit = /Q[^]{4}COMMIT[;\0]/;

export async function startProxy(targetPort: number): Promise<Proxy> {
  const armed: Cut[] = [];
  const cuts: Cut[] = [];
  const sockets = new Set<Socket>();

  function keep(socket: Socket): Socket {
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket)).on('error', () => undefined);
  }

  const server = createServer((client) => {
    const upstream = keep(connect(targetPort, '127.0.0.1'));
    keep(client).setNoDelay();
    upstream.setNoDelay();
    let isCut = false;
    client.on('data', (chunk: Buffer) => {
      const cut = commit.test(chunk.toString('latin1')) ? armed.shift() : undefined;
      if (cut !== undefined) cuts.push(cut);
      if (cut !== 'commit') upstream.write(chunk);
      if (cut === undefined) return;
      isCut = true;
      client.destroy();
      if (cut === 'commit') upstream.destroy();
    });
    upstream.on('data', (chunk) => {
      if (isCut) upstream.end();
      else client.write(chunk);
    });
    client.on('close', () => {
      if (!isCut) upstream.destroy();
    });
    upstream.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    armCut: (cut) => void armed.push(cut),
    cuts,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
