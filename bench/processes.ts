// The cost of a second process that follows everything: steps of sessions in a worker, alone and beside a client process that follows
// the events and the text of all of them. Both ways take turns in one run. Reported, and gates nothing.
//   npm run bench:processes
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Model } from 'stepline';
import { createAgent, defineTool, Usage } from 'stepline';
import { createSessionRuntime } from 'stepline/sessions';
import { startServer } from '../tests/postgres/server.ts';
import { benchLimits } from './agent.bench.ts';
import { median } from './measure.ts';
import type { BenchStore } from './processes-store.ts';
import { openStore } from './processes-store.ts';

const by = { id: 'bench', kind: 'service' };
const rounds = 3;
const pieces = 20;

const look = defineTool({
  name: 'look',
  description: 'Looks something up.',
  input: { type: 'object', properties: { id: { type: 'number' } }, required: ['id'] } as const,
  effect: 'once',
  run: ({ id }) => ({ id, found: true }),
});

/** A model that streams a text in pieces, over some time or at once, and calls the tool until the last step. */
function createStreamingModel(last: number, streamMs: number): Model {
  const usage = Usage.of({ input: 100, output: 20 });
  const stream: Model['stream'] = async ({ messages }, onDelta) => {
    const step = (messages.length + 1) / 2;
    const words: string[] = [];
    for (let index = 0; index < pieces; index += 1) {
      // The client sees how old it is.
      const text = `word ${String(index)} at ${String(Date.now())} `;
      words.push(text);
      onDelta({ type: 'text', text });
      if (streamMs > 0) await pause(streamMs / pieces);
    }
    const call = { type: 'tool-call' as const, toolCallId: `call-${String(step)}`, toolName: 'look', args: { id: step } };
    const parts = [{ type: 'text' as const, text: words.join('') }, ...(step < last ? [call] : [])];
    return { ok: true, response: { parts, usage, finishReason: step < last ? 'tool_calls' : 'stop' } };
  };
  return { provider: 'bench', modelId: 'bench', generate: (request) => stream(request, () => undefined), stream };
}

/** The work that is measured. */
interface Load {
  readonly name: string;
  readonly sessions: number;
  readonly steps: number;
  /** Time that an answer takes. Text is stored every 250 ms: that of short answers never is. */
  readonly streamMs: number;
  /** Figure of a run that took so many seconds. */
  readonly unit: 'steps/s' | 'ms/step';
}

const loads: readonly Load[] = [
  { name: '200 sessions, answers at once', sessions: 200, steps: 6, streamMs: 0, unit: 'steps/s' },
  { name: '200 sessions, answers of 0.6 s', sessions: 200, steps: 3, streamMs: 600, unit: 'steps/s' },
  { name: 'one session, answers at once', sessions: 1, steps: 60, streamMs: 0, unit: 'ms/step' },
  { name: 'one session, answers of 0.6 s', sessions: 1, steps: 4, streamMs: 600, unit: 'ms/step' },
];

interface Client {
  readonly stop: () => Promise<Seen>;
}

/** Figures of the client. */
interface Seen {
  readonly events: number;
  readonly pieces: number;
  readonly characters: number;
  /** Milliseconds from the first word of an answer to its arrival, for each answer. */
  readonly firstMs: readonly number[];
}

/** Starts a process that follows sessions; settles when it does. */
async function startClient(place: BenchStore, ids: readonly string[]): Promise<Client> {
  const script = fileURLToPath(new URL('processes-client.ts', import.meta.url));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, JSON.stringify(place)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  child.stdin.write(`${JSON.stringify(ids)}\n`);
  await lines.next();
  // Readers look at the store once before they wait.
  await pause(300);
  return {
    stop: async () => {
      child.stdin.write('stop\n');
      const { value } = await lines.next();
      await once(child, 'exit');
      // Holds: that is what the client prints last.
      return JSON.parse(String(value)) as Seen;
    },
  };
}

interface Measurement {
  readonly figure: number;
  readonly seen?: Seen | undefined;
}

async function measure(place: BenchStore, { sessions, steps, streamMs, unit }: Load, isFollowed: boolean): Promise<Measurement> {
  const { store, close } = await openStore(place);
  const agent = createAgent({ id: 'bench', model: createStreamingModel(steps, streamMs), tools: [look], limits: benchLimits });
  const runtime = createSessionRuntime({ agents: [agent], store });
  const made = await Promise.all(Array.from({ length: sessions }, () => runtime.create({}, { by })));
  const client = isFollowed
    ? await startClient(
        place,
        made.map(({ id }) => id),
      )
    : undefined;
  const began = performance.now();
  const results = await Promise.all(made.map(({ id }) => runtime.send(id, 'Go.', { by })));
  const seconds = (performance.now() - began) / 1000;
  const seen = await client?.stop();
  const wrong = results.find(({ status }) => status !== 'completed');
  if (wrong !== undefined) throw new Error(`A session did not complete: ${wrong.explain()}`);
  await checkSeen(runtime, seen?.events);
  await runtime.drain();
  await close();
  const figure = unit === 'steps/s' ? (sessions * steps) / seconds : (1000 * seconds) / (sessions * steps);
  return { figure, seen };
}

/** Throws if the client has not seen every event. */
async function checkSeen(runtime: ReturnType<typeof createSessionRuntime>, seen: number | undefined): Promise<void> {
  if (seen === undefined) return;
  const { sessions } = await runtime.list({ limit: 1000 });
  const stored = sessions.reduce((sum, session) => sum + ('lastSeq' in session ? session.lastSeq : 0), 0);
  if (stored !== seen) throw new Error(`The client saw ${String(seen)} events of ${String(stored)}.`);
}

const folder = mkdtempSync(join(tmpdir(), 'stepline-bench-'));
const server = await startServer();
let places = 0;
const createPlace: Readonly<Record<BenchStore['type'], () => BenchStore>> = {
  SQLite: () => ({ type: 'SQLite', path: join(folder, `${String((places += 1))}.db`) }),
  Postgres: () => ({ type: 'Postgres', url: server.url, schema: `bench_${String((places += 1))}` }),
};

const figures = new Map<string, number[]>();
const followed = new Map<string, Seen>();
// The first round is the compiler's. All ways take turns, so that a slow moment of the machine hits all of them.
for (let round = 0; round <= rounds; round += 1) {
  for (const store of ['SQLite', 'Postgres'] as const)
    for (const load of loads)
      for (const isFollowed of [false, true]) {
        const { figure, seen } = await measure(createPlace[store](), load, isFollowed);
        const name = `${store}, ${load.name}`;
        if (round > 0) figures.set(`${name} ${String(isFollowed)}`, [...(figures.get(`${name} ${String(isFollowed)}`) ?? []), figure]);
        if (seen !== undefined) followed.set(name, seen);
      }
}

/** Describes pieces, and the time to the first of an answer. */
function describeText(seen: Seen | undefined): string {
  if (seen === undefined || seen.pieces === 0) return 'nothing before it was recorded';
  const sorted = [...seen.firstMs].sort((one, other) => one - other);
  const at = (part: number): string => String(sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))]);
  const size = Math.round(seen.characters / seen.pieces);
  return `${String(seen.pieces)} pieces of ${String(size)} characters; first word after ${at(0.5)} ms (p50), ${at(0.99)} ms (p99)`;
}

const print = (line: string): void => void process.stdout.write(`${line}\n`);
print(
  `Node ${process.version}, medians of ${String(rounds)}; a step: an answer of ${String(pieces)} pieces and one call that must not run twice`,
);
print(
  `${''.padEnd(42)}${'alone'.padStart(10)}${'followed'.padStart(10)}${''.padEnd(9)}${'ratio'.padStart(7)}   what the client saw of the text`,
);
for (const store of ['SQLite', 'Postgres'])
  for (const { name, unit } of loads) {
    const key = `${store}, ${name}`;
    const [alone = 0, beside = 0] = ['false', 'true'].map((each) => median(figures.get(`${key} ${each}`) ?? []));
    const show = (value: number): string => value.toFixed(unit === 'steps/s' ? 0 : 2).padStart(10);
    print(
      `${key.padEnd(42)}${show(alone)}${show(beside)} ${unit.padEnd(8)}${(beside / alone).toFixed(2).padStart(7)}   ${describeText(followed.get(key))}`,
    );
  }
await server.dispose();
rmSync(folder, { recursive: true });
