// Workers of sessions on Restate, in processes of their own that share one address. Each line of input is an order, and is answered by a
// line; the processes end with the input.
//   node bench/engines-worker.ts 2        two processes
import type { Worker } from 'node:cluster';
import cluster from 'node:cluster';
import { once } from 'node:events';
import { createServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { serveSessions } from 'stepline/restate';
import { createBenchAgent } from './engines-agent.ts';

/** An order of the bench. A worker is opened, started once its address is registered, and drained. */
export type WorkerOrder =
  | {
      readonly type: 'open';
      readonly ingress: string;
      readonly prefix: string;
      /** Steps that each session takes. */
      readonly steps: number;
    }
  | { readonly type: 'start' | 'drain' };

let worker: ReturnType<typeof serveSessions> | undefined;
let server: ReturnType<typeof createServer> | undefined;

/** Follows an order. Returns the address of a worker that was opened. */
async function follow(order: WorkerOrder): Promise<string> {
  switch (order.type) {
    case 'open': {
      const { ingress, prefix, steps } = order;
      worker = serveSessions({ agents: [createBenchAgent(steps)], ingress: { url: ingress }, prefix });
      server = createServer(worker.node).listen(0, '127.0.0.1');
      await once(server, 'listening');
      // Holds: it listens on a port, which is the same in all processes.
      return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    }
    case 'start':
      await worker?.start();
      break;
    case 'drain':
      await worker?.drain();
      server?.close();
      break;
  }
  return '';
}

/** Gives an order to a process; settles with its answer. */
async function give(child: Worker, order: WorkerOrder): Promise<string> {
  child.send(order);
  const [answer] = (await once(child, 'message')) as [string];
  return answer;
}

if (cluster.isPrimary) {
  const children = Array.from({ length: Number(process.argv[2] ?? 1) }, () => cluster.fork());
  await Promise.all(children.map((child) => once(child, 'online')));
  for await (const line of createInterface({ input: process.stdin })) {
    // Holds: the bench writes the orders.
    const order = JSON.parse(line) as WorkerOrder;
    const [answer = ''] = await Promise.all(children.map((child) => give(child, order)));
    process.stdout.write(`${answer}\n`);
  }
  process.exit(0);
} else
  process.on('message', (order: WorkerOrder) => {
    void follow(order).then((answer) => process.send?.(answer));
  });
