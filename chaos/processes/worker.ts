// A worker: runs sessions of the store, beside others. Started, stopped and killed by the parent.
import { openSync, writeSync } from 'node:fs';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { createChaosAgent } from './agent.ts';
import { openDatabase } from './open-database.ts';
import type { Spot, WorkerOrders, WriteRecord } from './orders.ts';
import { getFiles, silenceMs } from './orders.ts';
import { listenToParent, openRecord, readCode, readOrders, report, reportProblem } from './report.ts';
import { watchStore } from './watch-store.ts';
import { withoutFence } from './without-fence.ts';

const orders = readOrders<WorkerOrders>();
const files = getFiles(orders.folder);
const world = openSync(files.world, 'a');
const record = openRecord<WriteRecord>(files.record(orders.name));
const database = await openDatabase(orders.database);

let heldSpot: Spot | undefined;
let slowUntil = 0;

/** Stands still: nothing of this process moves until it is killed, or stopped and continued by a signal. */
function standStill(ms: number): void {
  report({ type: 'held' });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

function beBusy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

function onSpot(spot: Spot): void {
  if (spot !== heldSpot) return;
  heldSpot = undefined;
  standStill(Infinity);
}

const agent = createChaosAgent({
  onModel: () => onSpot('model'),
  onEffect: onSpot,
  // Once this line is in the file the effect has happened, whatever becomes of the process.
  act: (tool, key, session) => void writeSync(world, `${[process.pid, tool, key, session].join('\t')}\n`),
  isSlow: () => performance.now() < slowUntil,
});
const fenced = orders.isUnfenced ? withoutFence(database.store) : database.store;
const store = watchStore(fenced, { onSpot, onWrite: record, report });
const runtime = createSessionRuntime({ agents: [agent], store, name: orders.name, silenceMs, onProblem: reportProblem });

listenToParent((command) => {
  if (command.type === 'hold') heldSpot = command.spot;
  if (command.type === 'freeze') standStill(command.ms);
  if (command.type === 'block') beBusy(command.ms);
  if (command.type === 'slow') slowUntil = performance.now() + command.ms;
  if (command.type !== 'finish') return;
  void (async () => {
    await runtime.drain();
    await database.close();
    report({ type: 'done' });
    process.exit(0);
  })();
});
try {
  const { failed } = await runtime.ready;
  for (const { sessionId, error } of failed) reportProblem(error, `the recovery of ${sessionId}`);
} catch (error) {
  if (readCode(error) !== 'runtime-closed') {
    reportProblem(error, 'the start');
    process.exit(1);
  }
}
// Its signs of life run in the background: what keeps the process alive is the line to its parent.
