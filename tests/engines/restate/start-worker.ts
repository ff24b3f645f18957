import type { ServeSessionsOptions } from '../../../src/sessions/restate/index.ts';
import { serveSessions } from '../../../src/sessions/restate/index.ts';
import { listen } from './listen.ts';
import type { RestateServer } from './server.ts';

/** Starts a worker in this process, registered with a server. Needs a desk. Returns a function that stops it. */
export async function startWorker(server: RestateServer, options: Omit<ServeSessionsOptions, 'ingress'>): Promise<() => Promise<void>> {
  const worker = serveSessions({ onProblem: () => undefined, ...options, ingress: { url: server.ingress } });
  const endpoint = await listen(worker.node);
  await server.register(endpoint.url);
  await worker.start();
  return async () => {
    await worker.drain();
    await endpoint.close();
  };
}
