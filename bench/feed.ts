// Many stores on one Postgres database whose commits take 5 ms, since a standby has to apply them first: steps a second, and how soon a
// reader of the feed has them. Reported, and gates nothing.
//   npm run bench:feed
//   npm run bench:feed -- --stores 16 --sessions 1 --steps 40 --rounds 3
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { createAgent, defineTool } from 'stepline';
import { postgresStore } from 'stepline/postgres';
import type { SessionStore } from 'stepline/sessions';
import { createSessionRuntime } from 'stepline/sessions';
import { openPool, startServer } from '../tests/postgres/server.ts';
import { startStandby } from '../tests/postgres/standby.ts';
import { benchLimits, benchModel } from './agent.bench.ts';
import { median } from './measure.ts';

const by = { id: 'bench', kind: 'service' };

const { values } = parseArgs({
  options: {
    stores: { type: 'string', default: '16' },
    sessions: { type: 'string', default: '1' },
    steps: { type: 'string', default: '40' },
    rounds: { type: 'string', default: '3' },
  },
});
const stores = Number(values.stores);
const sessions = Number(values.sessions);
const steps = Number(values.steps);
const rounds = Number(values.rounds);

const look = defineTool({
  name: 'look',
  description: 'Looks something up.',
  input: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] } as const,
  effect: 'once',
  run: ({ id }) => ({ id, found: true }),
});

const agent = createAgent({ id: 'bench', model: benchModel(steps), tools: [look], limits: benchLimits });

const server = await startServer();
const standby = await startStandby(server);

const newStore = async (schema: string): Promise<SessionStore> =>
  postgresStore({ pool: await openPool(server.url, { max: 4 }), schema, endsPool: true });

/** Times at which events were known to be stored, by session and number. */
type StoredAt = Map<string, number>;

const toKey = (sessionId: string, seq: number): string => `${sessionId} ${String(seq)}`;

/** Notes when events are stored. */
function noteWrites(store: SessionStore, storedAt: StoredAt): SessionStore {
  const write: SessionStore['log']['write'] = async (asked) => {
    const written = await store.log.write(asked);
    const now = performance.now();
    for (const { lastSeq, events } of asked.entries ?? [])
      if (lastSeq !== undefined && events !== undefined) storedAt.set(toKey(asked.sessionId, lastSeq), now);
    return written;
  };
  return { ...store, log: { ...store.log, write } };
}

interface Round {
  readonly stepsPerSecond: number;
  readonly lags: readonly number[];
}

async function measureRound(schema: string): Promise<Round> {
  const storedAt: StoredAt = new Map();
  const readAt: StoredAt = new Map();
  const opened = await Promise.all(Array.from({ length: stores }, () => newStore(schema)));
  const workers = opened.map((store) => createSessionRuntime({ agents: [agent], store: noteWrites(store, storedAt) }));
  const readerStore = await newStore(schema);
  const reader = createSessionRuntime({ agents: [agent], store: readerStore, role: 'client' });
  const made = workers.flatMap((worker) => Array.from({ length: sessions }, () => ({ worker, creating: worker.create({}, { by }) })));
  const ids = await Promise.all(made.map(async ({ creating }) => (await creating).id));
  const over = new AbortController();
  const reading = (async () => {
    for await (const { sessionId, event } of reader.feed({ follow: true, signal: over.signal }))
      readAt.set(toKey(sessionId, event.seq), performance.now());
  })().catch(() => undefined);
  const began = performance.now();
  const results = await Promise.all(made.map(async ({ worker, creating }) => worker.send((await creating).id, 'Go.', { by })));
  const seconds = (performance.now() - began) / 1000;
  const wrong = results.find(({ status }) => status !== 'completed');
  if (wrong !== undefined) throw new Error(`A session did not complete: ${wrong.explain()}`);
  const keys = [...storedAt.keys()].filter((key) => ids.some((id) => key.startsWith(`${id} `)));
  const deadline = performance.now() + 10_000;
  while (keys.some((key) => !readAt.has(key))) {
    if (performance.now() > deadline) throw new Error('The reader of the feed lacks events.');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  over.abort();
  await reading;
  for (const runtime of [reader, ...workers]) await runtime.drain();
  for (const store of [readerStore, ...opened]) await store.close();
  // An event may be read before its writer knows that it is stored.
  const lags = keys.map((key) => Math.max(0, (readAt.get(key) ?? 0) - (storedAt.get(key) ?? 0)));
  return { stepsPerSecond: (ids.length * steps) / seconds, lags };
}

/** Time that a commit takes if nothing else happens, in milliseconds. */
async function measureCommit(): Promise<number> {
  const pool = await openPool(server.url, { max: 1 });
  await pool.query('CREATE TABLE bare (n int)');
  const times: number[] = [];
  for (let index = 0; index < 50; index += 1) {
    const began = performance.now();
    await pool.query('INSERT INTO bare VALUES (1)');
    times.push(performance.now() - began);
  }
  await pool.end();
  return median(times);
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
try {
  print(`Node ${process.version}, Postgres with a standby, ${String(availableParallelism())} processors`);
  print(`  a bare commit takes ${(await measureCommit()).toFixed(1)} ms`);
  // The first round is the compiler's.
  await measureRound('bench_0');
  const done: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) done.push(await measureRound(`bench_${String(round)}`));
  const lags = done.flatMap((round) => round.lags).sort((one, other) => one - other);
  const at = (part: number): string => (lags[Math.floor(part * (lags.length - 1))] ?? Number.NaN).toFixed(1);
  print(
    `  ${String(stores)} stores, ${String(sessions)} session(s) each: ${median(done.map((each) => each.stepsPerSecond)).toFixed(0)} steps/s`,
  );
  print(`  from stored to read in the feed: ${at(0.5)} ms p50, ${at(0.99)} ms p99`);
  print(
    `  load of the machine: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(', ')}`,
  );
} finally {
  await server.dispose();
  await standby.dispose();
}
