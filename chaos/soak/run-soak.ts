// A worker and a client on one SQLite file, readers over HTTP, and a delivery whose receiver fails now and then: all in one process.
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AgentEventEnvelopeAdapter } from '../../src/broadcasting/index.ts';
import { createSessionHandler } from '../../src/broadcasting/http/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { createSoakAgent } from './agent.ts';
import type { Place } from './conversation.ts';
import { converse } from './conversation.ts';

export interface Sample {
  readonly seconds: number;
  /** Sessions whose conversation has ended. */
  readonly sessions: number;
  /** Those of them that ended since the sample before. */
  readonly ended: number;
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  readonly problems: number;
}

export interface SoakOptions {
  readonly folder: string;
  readonly minutes: number;
  /** Sessions a second. */
  readonly rate: number;
  readonly sampleEveryMs: number;
  readonly onSample: (sample: Sample) => void;
}

export interface SoakResult {
  readonly samples: readonly Sample[];
  readonly made: number;
  readonly ended: number;
  readonly failures: readonly string[];
}

/** Conversations at a time: more than this are not begun, so that a slow machine is not given more and more of them. */
const mostOpen = 100;
/** A conversation takes less than a second; one that takes longer than this has stalled. */
const stalledMs = 60_000;

function collect(): void {
  if (globalThis.gc === undefined) throw new Error('Start node with --expose-gc: memory is measured after a collection.');
  globalThis.gc();
}

interface Stage {
  readonly worker: Place;
  readonly client: Place;
  close(): Promise<void>;
}

async function openStage(folder: string, onProblem: (error: unknown, where: string) => void): Promise<Stage> {
  const path = join(folder, 'sessions.db');
  const stores = [sqliteStore({ path }), sqliteStore({ path })] as const;
  const adapter = new AgentEventEnvelopeAdapter({ send: () => undefined });
  const worker = createSessionRuntime({ agents: [createSoakAgent()], store: stores[0], onEvent: adapter.broadcast, onProblem });
  await worker.ready;
  const client = createSessionRuntime({ agents: [createSoakAgent()], store: stores[1], role: 'client', onProblem });
  const handle = createSessionHandler(worker, {
    authenticate: () => ({ id: 'ann', kind: 'user' }),
    authorize: () => true,
    newSession: () => ({}),
    onProblem,
  });
  let sent = 0;
  const delivery = worker.deliver(
    'audit',
    () => {
      sent += 1;
      if (sent % 100 === 0) throw new Error('The receiver is busy.');
    },
    { firstDelayMs: 10 },
  );
  return {
    worker: { runtime: worker, handle },
    client: { runtime: client, handle },
    close: async () => {
      await delivery.stop();
      await client.drain();
      await worker.drain();
      adapter.close();
      await Promise.all(stores.map((store) => store.close()));
    },
  };
}

export async function runSoak({ folder, minutes, rate, sampleEveryMs, onSample }: SoakOptions): Promise<SoakResult> {
  const failures: string[] = [];
  const onProblem = (error: unknown, where: string): void => void failures.push(`${where}: ${String(error)}`);
  const stage = await openStage(folder, onProblem);
  const samples: Sample[] = [];
  /** Start of each conversation that goes on. */
  const open = new Map<number, number>();
  let [made, ended] = [0, 0];

  function start(): void {
    made += 1;
    const index = made;
    open.set(index, performance.now());
    converse(index % 3 === 0 ? stage.client : stage.worker, index)
      .then(() => (ended += 1))
      .catch((error: unknown) => onProblem(error, `conversation ${index}`))
      .finally(() => open.delete(index));
  }

  function noteStalled(): void {
    for (const [index, since] of open)
      if (performance.now() - since > stalledMs)
        onProblem(`it goes on since ${(performance.now() - since).toFixed(0)} ms`, `conversation ${index}`);
  }

  const began = performance.now();
  const getElapsedMs = (): number => performance.now() - began;
  let nextSampleMs = sampleEveryMs;
  // A sample is due at the very end too.
  while (getElapsedMs() < minutes * 60_000 + 1000) {
    const due = Math.min(Math.floor((getElapsedMs() / 1000) * rate), minutes * 60 * rate);
    while (made < due && open.size < mostOpen) start();
    if (getElapsedMs() >= nextSampleMs) {
      nextSampleMs += sampleEveryMs;
      collect();
      const { rss, heapUsed, external } = process.memoryUsage();
      const [seconds, before] = [getElapsedMs() / 1000, samples.at(-1)?.sessions ?? 0];
      const sample = { seconds, sessions: ended, ended: ended - before, rss, heapUsed, external, problems: failures.length };
      samples.push(sample);
      onSample(sample);
      noteStalled();
    }
    await pause(20);
  }
  for (const deadline = performance.now() + stalledMs; open.size > 0 && performance.now() < deadline;) await pause(20);
  for (const index of open.keys()) onProblem('it has not ended', `conversation ${index}`);
  await stage.close();
  return { samples, made, ended, failures };
}
