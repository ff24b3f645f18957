// A process that answers requests by the function of examples/functions, and does nothing else. Started and killed by a test.
import { openSync, writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { createChaosAgent } from '../../chaos/processes/agent.ts';
import { openDatabase } from '../../chaos/processes/open-database.ts';
import type { Database, WriteRecord } from '../../chaos/processes/orders.ts';
import { getFiles } from '../../chaos/processes/orders.ts';
import { openRecord, readOrders, report, reportProblem } from '../../chaos/processes/report.ts';
import { watchStore } from '../../chaos/processes/watch-store.ts';
import { createFunction } from '../../examples/functions/drive.ts';
import { toNodeListener } from '../../src/broadcasting/http/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';

/** Orders of the parent. */
export interface FunctionOrders {
  readonly folder: string;
  readonly database: Database;
  readonly port: number;
  /** Name of the process in all records. */
  readonly name: string;
}

const orders = readOrders<FunctionOrders>();
const files = getFiles(orders.folder);
const world = openSync(files.world, 'a');
const record = openRecord<WriteRecord>(files.record(orders.name));
const database = await openDatabase(orders.database);
const ignore = (): void => undefined;
const agent = createChaosAgent({
  onModel: ignore,
  onEffect: ignore,
  // Once this line is in the file, the effect has happened, whatever becomes of the process.
  act: (tool, key) => void writeSync(world, `${[process.pid, tool, key].join('\t')}\n`),
  isSlow: () => false,
});
const store = watchStore(database.store, { onSpot: ignore, onWrite: record, report });
// More processes end in one step here than anywhere else.
const runtime = createSessionRuntime({ agents: [agent], store, role: 'client', maxRecoveries: 100, onProblem: reportProblem });
const answer = createFunction({ runtime, store, by: { id: 'person', kind: 'user' }, untilMs: 400 });
createServer(toNodeListener(answer)).listen(orders.port, '127.0.0.1', () => report({ type: 'held' }));
