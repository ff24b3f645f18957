// Several workers on one Postgres database, each in a process of its own, beside a client in this one. Reported, and gates nothing.
//   npm run bench:workers
//   npm run bench:workers -- --only latency,text --rate 20
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, loadavg } from 'node:os';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { EmbeddedRuntime, SessionStore } from 'stepline/sessions';
import { createSessionRuntime } from 'stepline/sessions';
import { openPool, startServer } from '../tests/postgres/server.ts';
import { median } from './measure.ts';
import type { BenchStore } from './processes-store.ts';
import { openStore } from './processes-store.ts';
import type { Line, Task, WorkerOrders } from './workers-process.ts';
import { createWorkAgent, now } from './workers-process.ts';

const by = { id: 'bench', kind: 'service' };
const script = fileURLToPath(new URL('workers-process.ts', import.meta.url));

const print = (line = ''): void => void process.stdout.write(`${line}\n`);

function printFigure(name: string, figure: string, wanted = ''): void {
  print(`  ${name.padEnd(66)} ${figure.padStart(18)}${wanted === '' ? '' : `   (wanted: ${wanted})`}`);
}

function describeMs(values: readonly number[]): string {
  const sorted = values.toSorted((one, other) => one - other);
  const at = (part: number): string => (sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN).toFixed(1);
  return `${at(0.5)} / ${at(0.99)} ms`;
}

/** A store of its own, the client in this process, and the workers that were started on it. */
interface Stage {
  readonly client: EmbeddedRuntime;
  /** Times at which tasks were posted, started and ended, by their ids. */
  readonly posted: Map<string, number>;
  readonly started: Map<string, number>;
  readonly ended: Map<string, number>;
  /** Starts a worker. Returns the tasks that it has started, with the time since it began to look for work. */
  readonly startWorker: (options?: Omit<WorkerOrders, 'place'>) => readonly number[];
  readonly dispose: () => Promise<void>;
}

/** Notes when a task is posted: the client reads before that. */
function notePosts(store: SessionStore, posted: Map<string, number>): SessionStore {
  const post: SessionStore['inbox']['post'] = (mail) => {
    posted.set(mail.requestId, now());
    return store.inbox.post(mail);
  };
  return { ...store, inbox: { ...store.inbox, post } };
}

async function openStage(place: BenchStore): Promise<Stage> {
  const { store, close } = await openStore(place);
  const [posted, started, ended] = Array.from({ length: 3 }, () => new Map<string, number>());
  if (posted === undefined || started === undefined || ended === undefined) throw new Error('There are three of them.');
  const client: EmbeddedRuntime = createSessionRuntime({
    agents: [createWorkAgent()],
    store: notePosts(store, posted),
    role: 'client',
  });
  const ends: (() => Promise<unknown>)[] = [];
  const startWorker: Stage['startWorker'] = (options) => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, JSON.stringify({ place, ...options })], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    const own: number[] = [];
    let upAt = Number.NaN;
    createInterface({ input: child.stdout }).on('line', (text) => {
      // Holds: that is all that a worker prints.
      const { type, id, at } = JSON.parse(text) as Line;
      if (type === 'up') upAt = at;
      else (type === 'start' ? started : ended).set(id, at);
      if (type === 'start') own.push(at - upAt);
    });
    ends.push(() => {
      child.stdin.end();
      return exited;
    });
    return own;
  };
  const dispose = async (): Promise<void> => {
    await Promise.all(ends.map((end) => end()));
    await client.drain();
    await close();
  };
  return { client, posted, started, ended, startWorker, dispose };
}

async function waitUntil(isTrue: () => boolean, seconds = 300): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!isTrue()) {
    if (performance.now() > deadline) throw new Error(`It did not happen within ${String(seconds)} s.`);
    await pause(5);
  }
}

/** Does this with each item, many at a time. */
async function forAll<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  const left = items[Symbol.iterator]();
  const lanes = Array.from({ length: 100 }, async () => {
    for (const item of left) await work(item);
  });
  await Promise.all(lanes);
}

async function createSessions({ client }: Stage, count: number, tenant = 'one'): Promise<readonly string[]> {
  const ids = Array.from({ length: count }, (_, index) => `${tenant}-${String(index)}`);
  await forAll(ids, (id) => client.create({ id, tenant }, { by }));
  return ids;
}

const send = ({ client }: Stage, sessionId: string, task: Task): Promise<unknown> =>
  client.send(sessionId, JSON.stringify(task), { by, requestId: task.id, until: 'accepted' });

/** Starts workers; settles when all of them have joined. */
async function startWorkers(stage: Stage, count: number, options?: Omit<WorkerOrders, 'place'>): Promise<void> {
  for (let index = 0; index < count; index += 1) stage.startWorker(options);
  const { client } = stage;
  for (let joined = 0; joined < count; joined = (await client.health()).workers.length) await pause(20);
}

/** Asks the database for nothing, again and again: what that takes is the machine's share in the other figures. */
async function startControl(): Promise<{ readonly end: () => Promise<readonly number[]> }> {
  const pool = await openPool(server.url);
  const times: number[] = [];
  const ending = new AbortController();
  const asking = (async () => {
    while (!ending.signal.aborted) {
      const began = performance.now();
      await pool.query('SELECT 1');
      times.push(performance.now() - began);
      await pause(20);
    }
    await pool.end();
  })();
  return {
    end: async () => {
      ending.abort();
      await asking;
      return times;
    },
  };
}

async function measureLatency(stage: Stage): Promise<void> {
  const ids = await createSessions(stage, 2000);
  await startWorkers(stage, 4);
  const control = await startControl();
  for (const time of ['first', 'second']) {
    const sentAt = new Map<string, number>();
    const began = performance.now();
    const sent: Promise<unknown>[] = [];
    for (let index = 0; index < 8 * rate; index += 1) {
      await pause(Math.max(0, began + (index * 1000) / rate - performance.now()));
      const task = { id: `${time}-${String(index)}`, steps: 1, answerMs: 30 };
      sentAt.set(task.id, now());
      sent.push(send(stage, ids[(index * 7) % ids.length] ?? '', task));
    }
    await Promise.all(sent);
    await waitUntil(() => [...sentAt.keys()].every((id) => stage.ended.has(id)));
    const since = (from: ReadonlyMap<string, number>): string =>
      describeMs([...sentAt.keys()].map((id) => (stage.started.get(id) ?? Number.NaN) - (from.get(id) ?? Number.NaN)));
    const of = `${String(rate)} messages/s, each session's ${time}, p50 / p99`;
    printFigure(`from the post to the start of its step: ${of}`, since(stage.posted), '≤ 5 / ≤ 60');
    printFigure('  from the call of send()', since(sentAt));
  }
  printFigure('  meanwhile, the smallest question to the database', describeMs(await control.end()));
}

async function measureFairness(stage: Stage): Promise<void> {
  const [many, few] = [await createSessions(stage, 10_000, 'many'), await createSessions(stage, 100, 'few')];
  await forAll(many, (id) => send(stage, id, { id, steps: 1, answerMs: 200 }));
  const options = { maxConcurrent: 25 };
  await startWorkers(stage, 4, options);
  await waitUntil(() => stage.ended.size > 200);
  const began = now();
  await Promise.all(few.map((id) => send(stage, id, { id, steps: 1, answerMs: 200 })));
  await waitUntil(() => few.every((id) => stage.started.has(id)));
  const delays = few.map((id) => (stage.started.get(id) ?? Number.NaN) - began);
  const left = many.length - stage.started.size + few.length;
  printFigure(
    `100 sessions behind ${String(left)} of another tenant: the last starts`,
    `${(Math.max(...delays) / 1000).toFixed(2)} s`,
    '≤ 0.5 s',
  );
  const own = stage.startWorker(options);
  await waitUntil(() => own.length > 0);
  printFigure('a worker that joins: its first step starts', `${((own[0] ?? Number.NaN) / 1000).toFixed(2)} s`, '≤ 1 s');
}

/** Steps a second of sessions that waited for workers. */
async function measureThroughput(stage: Stage, workers: number): Promise<number> {
  const steps = 10;
  const ids = await createSessions(stage, 400);
  await forAll(ids, (id) => send(stage, id, { id, steps, busyMs: 0.25 }));
  for (let index = 0; index < workers; index += 1) stage.startWorker();
  // The start of a process is not measured, nor what the compiler does first.
  const warm = ids.length / 4;
  await waitUntil(() => stage.ended.size === ids.length);
  const ends = [...stage.ended.values()].toSorted((one, other) => one - other);
  return ((ids.length - warm) * steps * 1000) / ((ends.at(-1) ?? 0) - (ends[warm - 1] ?? 0));
}

async function compareThroughput(open: () => Promise<Stage>): Promise<void> {
  const [one, two, ratios]: [number[], number[], number[]] = [[], [], []];
  // In turn: a slow moment of the machine hits both.
  for (let round = 0; round < 3; round += 1) {
    const single = await withStage(open, (stage) => measureThroughput(stage, 1));
    const pair = await withStage(open, (stage) => measureThroughput(stage, 2));
    one.push(single);
    two.push(pair);
    ratios.push(pair / single);
  }
  printFigure('one worker, 0.25 ms of CPU a step', `${median(one).toFixed(0)} steps/s`);
  printFigure('two workers', `${median(two).toFixed(0)} steps/s`);
  printFigure('two workers against one', median(ratios).toFixed(2), '≥ 1.05');
}

async function measureText(stage: Stage): Promise<void> {
  const ids = await createSessions(stage, 60);
  await startWorkers(stage, 1);
  const [owned, sent]: [number[], number[]] = [[], []];
  const ending = new AbortController();
  const sentAt = new Map<string, number>();
  const readers = ids.map(async (id) => {
    for await (const item of stage.client.openStep(id, { follow: true, signal: ending.signal })) {
      if (item.type !== 'text') continue;
      owned.push(now() - Number(/ at (\S+)/.exec(item.text)?.[1]));
      sent.push(now() - (sentAt.get(id) ?? Number.NaN));
      return;
    }
  });
  await pause(500);
  for (const id of ids) {
    sentAt.set(id, now());
    await send(stage, id, { id, steps: 1, answerMs: 1000 });
    await pause(100);
  }
  await waitUntil(() => stage.ended.size === ids.length);
  await pause(500);
  ending.abort();
  await Promise.allSettled(readers);
  if (owned.length < ids.length) printFigure('  readers that saw no text', String(ids.length - owned.length));
  printFigure('first text in another process, after its owner has it, p50 / p99', describeMs(owned), 'p50 ≤ 350 ms');
  printFigure('  after the call of send()', describeMs(sent));
}

async function withStage<Value>(open: () => Promise<Stage>, work: (stage: Stage) => Promise<Value>): Promise<Value> {
  const stage = await open();
  try {
    return await work(stage);
  } finally {
    await stage.dispose();
  }
}

const { values } = parseArgs({
  options: { only: { type: 'string', default: 'latency,fairness,throughput,text' }, rate: { type: 'string', default: '100' } },
});
const rate = Number(values.rate);
const only = values.only.split(',');
const server = await startServer();
let places = 0;
const open = (): Promise<Stage> => openStage({ type: 'Postgres', url: server.url, schema: `bench_${String((places += 1))}` });

print(`Node ${process.version}, Postgres, ${String(availableParallelism())} processors`);
try {
  if (only.includes('latency')) await withStage(open, measureLatency);
  if (only.includes('fairness')) await withStage(open, measureFairness);
  if (only.includes('throughput')) await compareThroughput(open);
  if (only.includes('text')) await withStage(open, measureText);
} finally {
  await server.dispose();
}
print(
  `  load of the machine: ${loadavg()
    .map((load) => load.toFixed(1))
    .join(', ')}`,
);
