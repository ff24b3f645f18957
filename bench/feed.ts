// Many stores on one Postgres database whose commits take 5 ms more, since a standby has to apply them first: steps a second, and how soon a
// reader of the feed has them. Reported, and gates nothing.
//   npm run bench:feed
//   npm run bench:feed -- --stores 16 --sessions 1 --steps 60 --rounds 3
import { availableParallelism, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { postgresStore } from 'stepline/postgres';
import type { SessionStore } from 'stepline/sessions';
import { adding, creating, join, touching } from '../tests/postgres/samples.ts';
import { openPool, startServer } from '../tests/postgres/server.ts';
import { startStandby } from '../tests/postgres/standby.ts';
import { median } from './measure.ts';

const { values } = parseArgs({
  options: {
    stores: { type: 'string', default: '16' },
    sessions: { type: 'string', default: '1' },
    steps: { type: 'string', default: '60' },
    rounds: { type: 'string', default: '3' },
  },
});
const stores = Number(values.stores);
const sessions = Number(values.sessions);
const steps = Number(values.steps);
const rounds = Number(values.rounds);

const server = await startServer();
const standby = await startStandby(server);
const body = JSON.stringify({ text: 'x'.repeat(1600) });

const openStore = async (schema: string): Promise<SessionStore> =>
  postgresStore({ pool: await openPool(server.url, { max: 3 }), schema, endsPool: true });

/** Times by session and entry. */
type Times = Map<string, number>;

/** Takes the steps of a session, as a runtime writes them: what a tool is about to do, then what came of it. */
async function takeSteps(store: SessionStore, id: string, storedAt: Times): Promise<void> {
  for (let n = 2; n < steps + 2; n += 1) {
    await store.log.write({ ...touching(id, n - 1), effects: [{ key: `call-${String(n)}`, phase: 'intent', body: '{}' }] });
    const write = adding(id, n);
    const entries = (write.entries ?? []).map((entry) => ({ ...entry, body, events: '[]', lastSeq: n }));
    await store.log.write({ ...write, entries, clearsEffects: true });
    storedAt.set(`${id} ${String(n)}`, performance.now());
  }
}

/** Reads the feed whenever something has changed, until so many entries were read. */
async function readFeed(store: SessionStore, readAt: Times, count: number): Promise<void> {
  let wake = (): void => undefined;
  let isChanged = true;
  const unwatch = store.changes.watch(() => {
    isChanged = true;
    wake();
  });
  let after: string | undefined;
  while (readAt.size < count) {
    if (!isChanged) await new Promise<void>((resolve) => (wake = resolve));
    isChanged = false;
    for (let hasMore = true; hasMore;) {
      const page = await store.feed.read(after === undefined ? {} : { after });
      for (const found of page.entries) if ('entry' in found) readAt.set(`${found.sessionId} ${String(found.entry.n)}`, performance.now());
      ({ cursor: after, hasMore } = page);
    }
  }
  unwatch();
}

interface Round {
  readonly stepsPerSecond: number;
  readonly lags: readonly number[];
}

async function measureRound(schema: string): Promise<Round> {
  const reader = await openStore(schema);
  await join(reader);
  const opened = await Promise.all(Array.from({ length: stores }, () => openStore(schema)));
  const made = opened.flatMap((store, at) =>
    Array.from({ length: sessions }, (_, each) => ({ store, id: `${String(at)}-${String(each)}` })),
  );
  await Promise.all(made.map(({ store, id }) => store.log.write(creating(id))));
  const storedAt: Times = new Map();
  const readAt: Times = new Map();
  const reading = readFeed(reader, readAt, made.length * steps);
  const began = performance.now();
  await Promise.all(made.map(({ store, id }) => takeSteps(store, id, storedAt)));
  const seconds = (performance.now() - began) / 1000;
  await reading;
  for (const store of [reader, ...opened]) await store.close();
  // An entry may be read before its writer knows that it is stored.
  const lags = [...storedAt].map(([key, at]) => Math.max(0, (readAt.get(key) ?? Infinity) - at));
  return { stepsPerSecond: (made.length * steps) / seconds, lags };
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
  print(`Node ${process.version}, Postgres with a standby, ${String(availableParallelism())} processors, medians of ${String(rounds)}`);
  print(`  a bare commit takes ${(await measureCommit()).toFixed(1)} ms`);
  // The first round is the compiler's.
  await measureRound('bench_0');
  const done: Round[] = [];
  for (let round = 1; round <= rounds; round += 1) done.push(await measureRound(`bench_${String(round)}`));
  const lags = done.flatMap((each) => each.lags).sort((one, other) => one - other);
  const at = (part: number): string => (lags[Math.floor(part * (lags.length - 1))] ?? Number.NaN).toFixed(1);
  const speed = median(done.map(({ stepsPerSecond }) => stepsPerSecond)).toFixed(0);
  print(`  ${String(stores)} stores with ${String(sessions)} at once each: ${speed} steps/s, of two commits each`);
  print(`  from stored to read in the feed: ${at(0.5)} ms (p50), ${at(0.99)} ms (p99)`);
  print(
    `  load of the machine: ${loadavg()
      .map((load) => load.toFixed(1))
      .join(', ')}`,
  );
} finally {
  await server.dispose();
  await standby.dispose();
}
