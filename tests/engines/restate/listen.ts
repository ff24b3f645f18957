import { once } from 'node:events';
import type { Http2Server, ServerHttp2Session } from 'node:http2';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';

/** An endpoint that listens on loopback. */
export interface ListeningEndpoint {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves an endpoint on loopback. Port 0 is a free one. */
export async function listen(handler: Parameters<Http2Server['on']>[1], port = 0): Promise<ListeningEndpoint> {
  const server = createServer();
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('close', () => sessions.delete(session));
  });
  server.on('request', handler);
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  // Holds: it listens on a port.
  const { port: used } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${used}`,
    close: async () => {
      server.close();
      for (const session of sessions) session.destroy();
    },
  };
}
