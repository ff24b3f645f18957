// Cost of a start with many sessions that an earlier process left open. Figures are reported, and gate nothing.
//   npm run bench:recovery -- [sessions]
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawnSync } from 'node:child_process';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Model } from 'stepline';
import { createAgent, Usage } from 'stepline';
import { createSessionRuntime } from 'stepline/sessions';
import { sqliteStore } from 'stepline/sqlite';

const by = { id: 'bench', kind: 'service' };
const atOnce = 250;

function createModel(answer: () => Promise<unknown>): Model {
  const ask: Model['generate'] = async () => {
    await answer();
    return {
      ok: true,
      response: { parts: [{ type: 'text', text: 'Done.' }], usage: Usage.of({ input: 100, output: 20 }), finishReason: 'stop' },
    };
  };
  return { provider: 'bench', modelId: 'bench', generate: ask, stream: ask };
}

/** Opens sessions, and ends the process while all of them wait for the model. */
async function leaveOpen(path: string, count: number): Promise<void> {
  const agent = createAgent({ id: 'bench', model: createModel(() => new Promise(() => undefined)) });
  const runtime = createSessionRuntime({ agents: [agent], store: sqliteStore({ path }) });
  const words = 'Please summarise this for me. '.repeat(100);
  for (let done = 0; done < count; done += atOnce) {
    await Promise.all(
      Array.from({ length: Math.min(atOnce, count - done) }, async (_, index) => {
        const id = `s-${String(done + index)}`;
        await runtime.create({ id }, { by });
        await runtime.send(id, words, { by, until: 'accepted' });
      }),
    );
  }
  process.kill(process.pid, 'SIGKILL');
}

/** Starts on the file, and sends a message at once. */
async function recover(path: string): Promise<void> {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  const agent = createAgent({ id: 'bench', model: createModel(() => pause(200)) });
  const store = sqliteStore({ path });
  let highest = process.memoryUsage().rss;
  const timer = setInterval(() => (highest = Math.max(highest, process.memoryUsage().rss)), 20);
  delay.enable();
  const began = performance.now();
  const seconds = (): string => `${((performance.now() - began) / 1000).toFixed(2)} s`.padStart(8);
  const runtime = createSessionRuntime({ agents: [agent], store });
  const figures: string[] = [];
  const asked = runtime
    .create({ id: 'asked-now' }, { by })
    .then(() => runtime.send('asked-now', 'Hello.', { by }))
    .then(() => figures.push(`a message sent at once is answered after  ${seconds()}  (the model takes 0.2 s)`));
  await runtime.ready;
  figures.push(`ready after                               ${seconds()}`);
  await asked;
  while ((await runtime.list({ isOpen: true, limit: 1 })).sessions.length > 0) await pause(50);
  figures.push(`all sessions have ended after             ${seconds()}`);
  delay.disable();
  clearInterval(timer);
  figures.push(`longest delay of the event loop           ${(delay.max / 1e6).toFixed(0).padStart(5)} ms`);
  figures.push(`highest memory of the process             ${(highest / 1e6).toFixed(0).padStart(5)} MB`);
  process.stdout.write(figures.map((line) => `  ${line}\n`).join(''));
  await runtime.drain();
  await store.close();
}

function runChild(...args: readonly string[]): string {
  const { stdout, stderr } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), ...args], { encoding: 'utf8' });
  return stdout === '' ? stderr : stdout;
}

const [, , task = '5000', path = '', count = ''] = process.argv;
if (task === 'leave') await leaveOpen(path, Number(count));
else if (task === 'recover') await recover(path);
else {
  const folder = mkdtempSync(join(tmpdir(), 'stepline-bench-'));
  const file = join(folder, 'sessions.db');
  runChild('leave', file, task);
  process.stdout.write(`Node ${process.version}: a start with ${task} open sessions\n${runChild('recover', file)}`);
  rmSync(folder, { recursive: true });
}
