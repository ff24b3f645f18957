// Workers of sessions on Restate, in a process of their own, one after the other. Each line of input is an order, and is answered by a line;
// the process ends with its input.
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
      // Holds: it listens on a port.
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

// Holds: the bench writes the orders.
for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${await follow(JSON.parse(line) as WorkerOrder)}\n`);
process.exit(0);
