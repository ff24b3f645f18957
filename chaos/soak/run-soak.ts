import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { AgentEventEnvelopeAdapter } from '../../src/broadcasting/index.ts';
import { createSessionHandler } from '../../src/broadcasting/http/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { createSoakAgent } from './agent.ts';
import { converse } from './conversation.ts';

export interface Sample {
  readonly seconds: number;
  readonly sessions: number;
  readonly rss: number;
  readonly heapUsed: number;
  readonly heapTotal: number;
  readonly external: number;
}

export interface SoakOptions {
  readonly folder: string;
  readonly minutes: number;
  readonly rate: number;
  readonly sampleEveryMs: number;
  readonly onSample: (sample: Sample) => void;
  readonly onProblem: (error: unknown, where: string) => void;
}

function collect(): void {
  if (globalThis.gc === undefined) throw new Error('Start node with --expose-gc: memory is measured after a collection.');
  globalThis.gc();
}

export async function runSoak({ folder, minutes, rate, sampleEveryMs, onSample, onProblem }: SoakOptions): Promise<readonly Sample[]> {
  const path = join(folder, 'sessions.db');
  const stores = [sqliteStore({ path }), sqliteStore({ path })] as const;
  const adapter = new AgentEventEnvelopeAdapter({ send: () => undefined });
  const worker = createSessionRuntime({ agents: [createSoakAgent()], store: stores[0], onEvent: adapter.broadcast, onProblem });
  await worker.ready;
  const client = createSessionRuntime({ agents: [createSoakAgent()], store: stores[1], role: 'client', onProblem });
  const handle = createSessionHandler(worker, { authorize: () => ({ by: { id: 'ann', kind: 'user' } }), newSession: () => ({}), onProblem });
  let sent = 0;
  const delivery = worker.deliver(
    'audit',
    () => {
      sent += 1;
      if (sent % 100 === 0) throw new Error('The receiver is busy.');
    },
    { firstDelayMs: 10 },
  );
  const samples: Sample[] = [];
  const began = performance.now();
  const end = began + minutes * 60_000;
  let [started, ended, open, nextSample] = [0, 0, 0, began + sampleEveryMs];
  while (performance.now() < end) {
    const due = Math.floor(((performance.now() - began) / 1000) * rate);
    while (started < due && open < 100) {
      started += 1;
      open += 1;
      const index = started;
      converse({ runtime: index % 3 === 0 ? client : worker, handle }, index)
        .then(() => (ended += 1))
        .catch((error: unknown) => onProblem(error, `conversation ${index}`))
        .finally(() => (open -= 1));
    }
    if (performance.now() >= nextSample) {
      nextSample += sampleEveryMs;
      collect();
      const { rss, heapUsed, heapTotal, external } = process.memoryUsage();
      const sample = { seconds: (performance.now() - began) / 1000, sessions: ended, rss, heapUsed, heapTotal, external };
      samples.push(sample);
      onSample(sample);
    }
    await pause(20);
  }
  while (open > 0) await pause(20);
  await delivery.stop();
  await client.drain();
  await worker.drain();
  adapter.close();
  await Promise.all(stores.map((store) => store.close()));
  return samples;
}
