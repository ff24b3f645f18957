// One worker, beside others or alone: continues the sessions of one SQLite file until each of its clients has heard the end of its own.
// Started, killed and started again by the parent; its orders are the first argument.
import { openSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import type { FunctionTool, Model, ToolContext } from '../src/entry/index.ts';
import { createAgent, defineTool } from '../src/entry/index.ts';
import type { EmbeddedRuntime, SessionStore, SessionWrite } from '../src/sessions/index.ts';
import { createSessionRuntime } from '../src/sessions/index.ts';
import { sqliteStore } from '../src/sessions/sqlite/index.ts';
import { readLeases } from './leases.ts';
import type { Hold, Orders, Place, Said } from './orders.ts';
import { filesIn } from './orders.ts';
import type { ToolName } from './plan.ts';
import { answerTo, toQuestion, toRequestId, toResult, sessionIds, toolNames } from './plan.ts';
import { watchedStore } from './watched-store.ts';

// Holds: the parent writes the orders.
const orders = JSON.parse(process.argv[2] ?? '{}') as Orders;
const files = filesIn(orders.folder);
const world = openSync(files.world, 'a');
const seen = openSync(files.seen, 'a');

const say = (said: Said): void => void writeSync(1, `${JSON.stringify(said)}\n`);
const note = (file: number, ...words: readonly (string | number)[]): void =>
  void writeSync(file, `${[process.pid, ...words].join('\t')}\n`);

let progress = 0;
let isMute = false;
const total = orders.sessions * orders.steps;
const tellEvery = Math.max(1, Math.floor(total / 2000));

function countSteps(steps: number): void {
  progress += steps;
  if (steps > 0 && progress % tellEvery === 0) say({ type: 'progress', steps: progress });
}

let hold: Hold | undefined = orders.hold;
let passes = 0;

/** Blocks here if the orders say so. The whole process is blocked, so it is found exactly here. */
function reach(place: Place): void {
  if (hold?.place !== place || progress < hold.from) return;
  passes += 1;
  if (passes <= hold.passes) return;
  const { ms } = hold;
  hold = undefined;
  say({ type: 'held', place });
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const getCode = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'no-code';

function report(error: unknown, where: string): void {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  say({ type: 'problem', code: getCode(error), where, message });
}

interface Args {
  readonly session: string;
  readonly step: number;
}

/** A few milliseconds or none at all, others for each call: some calls are cut off before their effect, some after it. */
async function linger({ session, step }: Args, salt: number): Promise<void> {
  const ms = ((Number(session.slice(2)) * 7 + step * 13 + salt) % 5) - 1 + (orders.callMs ?? 0) / 2;
  if (ms > 0) await pause(ms);
}

const input = {
  type: 'object',
  properties: { session: { type: 'string' }, step: { type: 'integer' }, heard: { type: 'string' } },
  required: ['session', 'step', 'heard'],
} as const;

async function carryOut(name: ToolName, args: Args, { idempotencyKey }: ToolContext): Promise<string> {
  const { session, step } = args;
  await linger(args, 0);
  if (name === toolNames.once) reach('before-effect');
  // The effect itself: once this line stands in the file it has happened, whatever becomes of the process.
  if (name !== toolNames.pure) note(world, name, idempotencyKey, session, step);
  if (name === toolNames.once) reach('after-effect');
  await linger(args, 2);
  return toResult(name, session, step);
}

// The `once` tool says nothing of its effect class: that is the default.
const tools: readonly FunctionTool[] = [
  defineTool({ name: toolNames.once, description: 'Acts.', input, run: (args, ctx) => carryOut(toolNames.once, args, ctx) }),
  defineTool({
    name: toolNames.idempotent,
    description: 'Puts.',
    input,
    effect: 'idempotent',
    run: (args, ctx) => carryOut(toolNames.idempotent, args, ctx),
  }),
  defineTool({
    name: toolNames.pure,
    description: 'Looks.',
    input,
    effect: 'pure',
    run: (args, ctx) => carryOut(toolNames.pure, args, ctx),
  }),
];

const ask: Model['generate'] = async ({ messages }) => {
  reach('model');
  if (orders.callMs !== undefined) await pause(orders.callMs);
  return answerTo(messages);
};

const agent = createAgent({
  id: 'chaos',
  model: { provider: 'chaos', modelId: 'chaos', generate: ask, stream: ask },
  tools,
  limits: { steps: Infinity, tokens: Infinity, wallMs: Infinity },
});

function onSafe({ sessionId, lease, entries = [] }: SessionWrite): void {
  for (const { n, execution = '-', step = '-' } of entries) note(seen, 'entry', sessionId, n, execution, step, lease.fence);
  countSteps(entries.filter(({ step }) => step !== undefined).length);
}

function onRefused({ sessionId }: SessionWrite, error: unknown): void {
  note(seen, 'refused', sessionId, getCode(error));
}

/** Keeps a sign of life back if the orders say so. */
async function onBeat(): Promise<void> {
  if (isMute || orders.mute === undefined || progress < orders.mute.from) return;
  isMute = true;
  say({ type: 'mute' });
  await pause(orders.mute.ms);
}

function readStore<Value>(read: (database: DatabaseSync) => Value): Value {
  const database = new DatabaseSync(files.store, { readOnly: true });
  const value = read(database);
  database.close();
  return value;
}

const by = { id: 'client', kind: 'user' };

/** Repeats a request until its result is known, as a client would. */
async function beClient(runtime: EmbeddedRuntime, session: string): Promise<void> {
  try {
    await runtime.create({ id: session }, { by });
  } catch (error) {
    // It was made before the kill.
    if (getCode(error) !== 'session-conflict') throw error;
  }
  const turn = await runtime.send(session, toQuestion(session, orders.steps), { by, requestId: toRequestId(session) });
  note(seen, 'turn', session, turn.execution, turn.status, turn.text);
}

/** Runs one client after the other, each for the next session. */
async function beClients(runtime: EmbeddedRuntime, left: string[]): Promise<void> {
  for (let session = left.shift(); session !== undefined; session = left.shift()) {
    try {
      await beClient(runtime, session);
    } catch (error) {
      report(error, `the client of ${session}`);
    }
  }
}

/** Clients come one by one, so that at any moment some sessions begin, some are under way and some end. */
async function letClientsCome(runtime: EmbeddedRuntime, ids: readonly string[]): Promise<void> {
  const left = [...ids];
  const ends: Promise<void>[] = [];
  while (left.length > 0 && ends.length < orders.atOnce) {
    ends.push(beClients(runtime, left));
    await pause(orders.everyMs);
  }
  await Promise.all(ends);
}

const store: SessionStore = watchedStore(sqliteStore({ path: files.store }), {
  reach,
  onSafe,
  onRefused,
  onBeat,
  onFreed: () => say({ type: 'freed', leases: readStore(readLeases) }),
});
// The first question creates the file.
await store.leases.workers();
progress = readStore((database) => Number(database.prepare('SELECT count(*) AS steps FROM log WHERE step IS NOT NULL').get()?.['steps']));
const { silenceMs } = orders;
const runtime = createSessionRuntime({ agents: [agent], store, onProblem: report, ...(silenceMs !== undefined && { silenceMs }) });
const recovery = await runtime.ready;
for (const { sessionId, error } of recovery.failed) report(error, `the recovery of ${sessionId}`);
await letClientsCome(runtime, sessionIds(orders.sessions));
await runtime.drain();
await store.close();
say({ type: 'done' });
