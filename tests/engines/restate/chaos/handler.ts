// A process that serves the object of sessions, beside others on the same port. Started and killed by the parent.
import { openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http2';
import { createChaosAgent } from '../../../../chaos/processes/agent.ts';
import { openDatabase } from '../../../../chaos/processes/open-database.ts';
import type { Database, WriteRecord } from '../../../../chaos/processes/orders.ts';
import { getFiles } from '../../../../chaos/processes/orders.ts';
import { openRecord, readOrders, report, reportProblem } from '../../../../chaos/processes/report.ts';
import { watchStore } from '../../../../chaos/processes/watch-store.ts';
import { createSessionRuntime } from '../../../../src/sessions/index.ts';
import { createSessionObject } from '../../../../src/sessions/restate/index.ts';
import { createEndpointHandler } from '../../../support/restate-endpoint.ts';

export interface HandlerOrders {
  readonly folder: string;
  readonly database: Database;
  readonly port: number;
  /** Name of the process in all records. */
  readonly name: string;
}

const orders = readOrders<HandlerOrders>();
const files = getFiles(orders.folder);
const world = openSync(files.world, 'a');
const record = openRecord<WriteRecord>(files.record(orders.name));
const { store } = await openDatabase(orders.database);
const ignore = (): void => undefined;

const runtime = createSessionRuntime({
  agents: [
    createChaosAgent({
      onModel: ignore,
      onEffect: ignore,
      // Once this line is in the file, the effect has happened, whatever becomes of the process.
      act: (tool, key) => void writeSync(world, `${[process.pid, tool, key].join('\t')}\n`),
      isSlow: () => false,
    }),
  ],
  store: watchStore(store, { onSpot: ignore, onWrite: record, report }),
  role: 'client',
  // More processes end in one step here than anywhere else.
  maxRecoveries: 100,
  onProblem: reportProblem,
});
const retryPolicy = { initialInterval: 50, maxInterval: 500 };
const object = createSessionObject({ runtime, untilMs: 1000, retryMs: 100, options: { retryPolicy } });
const server = createServer(createEndpointHandler({ services: [object], logger: ignore }));
server.listen({ port: orders.port, host: '127.0.0.1', reusePort: true });
