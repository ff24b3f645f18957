// A worker, or a standby for one: runs the sessions of the store once it is its turn. Started, stopped and killed by the parent.
import { openSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { createChaosAgent } from './agent.ts';
import { openDatabase, readHeads } from './open-database.ts';
import type { Spot, WorkerOrders, WriteRecord } from './orders.ts';
import { getFiles } from './orders.ts';
import { listenToParent, openRecord, readCode, readOrders, report, reportProblem } from './report.ts';
import { watchStore } from './watch-store.ts';

const orders = readOrders<WorkerOrders>();
const files = getFiles(orders.folder);
const world = openSync(files.world, 'a');
const record = openRecord<WriteRecord>(files.record(orders.name));
const database = await openDatabase(orders.database);

let hasWritten = false;
let readsHeads = false;
let heldSpot: Spot | undefined;

/** Stands still: nothing of this process moves until it is killed, or stopped and started by a signal. */
function standStill(ms: number): void {
  report({ type: 'held' });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function onSpot(spot: Spot): void {
  if (spot !== heldSpot) return;
  heldSpot = undefined;
  standStill(Infinity);
}

function onSafe(): void {
  if (!hasWritten) report({ type: 'first-write', at: Date.now() });
  hasWritten = true;
}

async function onClaimed(epoch: number): Promise<void> {
  const at = Date.now();
  report({ type: 'claimed', at, epoch, ...(readsHeads && { heads: await readHeads(database) }) });
}

const agent = createChaosAgent({
  onModel: () => onSpot('model'),
  onEffect: onSpot,
  // Once this line is in the file the effect has happened, whatever becomes of the process.
  act: (tool, key, session) => void writeSync(world, `${[process.pid, tool, key, session].join('\t')}\n`),
});
const store = watchStore(database.store, { onSpot, onWrite: record, onSafe, onClaimed });

async function end(last: 'done' | 'fenced'): Promise<never> {
  // Long enough for whatever would still be written by mistake.
  if (last === 'fenced') await pause(1000);
  report({ type: last });
  process.exit(0);
}

const runtime = createSessionRuntime({
  agents: [agent],
  store,
  role: 'worker',
  standby: true,
  name: orders.name,
  onProblem: (error, where) => {
    reportProblem(error, where);
    if (readCode(error) === 'store-fenced') void end('fenced');
  },
});

listenToParent((command) => {
  if (command.type === 'hold') heldSpot = command.spot;
  if (command.type === 'read-heads') readsHeads = true;
  // Longer than it takes the parent to stop this process by a signal.
  if (command.type === 'freeze') standStill(500);
  if (command.type !== 'finish') return;
  void (async () => {
    await runtime.drain();
    await database.close();
    await end('done');
  })();
});
report({ type: 'started' });
try {
  const { failed } = await runtime.ready;
  for (const { sessionId, error } of failed) reportProblem(error, `the recovery of ${sessionId}`);
} catch (error) {
  if (readCode(error) !== 'runtime-closed') {
    reportProblem(error, 'the claim');
    process.exit(1);
  }
}
// The heartbeat runs in the background: what keeps the process alive is the line to its parent.
