// Turns that are larger than one message of the server, step by step.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createAgent, defineTool } from '../../../src/entry/index.ts';
import { restateSessions } from '../../../src/sessions/restate/index.ts';
import { sqliteStore } from '../../../src/sessions/sqlite/index.ts';
import { scriptedModel } from '../../../src/testing/index.ts';
import { startRestate } from './server.ts';
import { startWorker } from './start-worker.ts';

const server = await startRestate();
const folder = mkdtempSync(join(tmpdir(), 'stepline-large-turns-'));
afterAll(async () => {
  await server.dispose();
  rmSync(folder, { recursive: true, force: true });
});

const by = { id: 'ann', kind: 'user' };

test(
  'a turn of forty megabytes is kept, its call runs once each, and the session takes its next message',
  { timeout: 120_000 },
  async () => {
    let runs = 0;
    const fill = defineTool({
      name: 'fill',
      description: 'Fills.',
      input: { type: 'object', properties: {} } as const,
      effect: 'once',
      run: () => {
        runs += 1;
        return 'x'.repeat(900_000);
      },
    });
    const fills = Array.from({ length: 44 }, (_, index) => ({ toolCalls: [{ name: 'fill', id: `call-${index}`, args: {} }] }));
    const model = scriptedModel([...fills, { text: 'Filled.' }], { repeatLast: true });
    const agents = [createAgent({ id: 'filler', model, tools: [fill], limits: { steps: 100 } })];
    const list = sqliteStore({ path: join(folder, 'list.db') });
    const problems: unknown[] = [];
    const stopWorker = await startWorker(server, { agents, list, onProblem: (error) => void problems.push(error) });
    const runtime = restateSessions({ agents, ingress: { url: server.ingress }, list });
    const { id } = await runtime.create({}, { by });
    expect((await runtime.send(id, 'Go.', { by })).text).toBe('Filled.');
    expect((await runtime.send(id, 'And now?', { by })).text).toBe('Filled.');
    expect([runs, problems]).toStrictEqual([fills.length, []]);
    await runtime.drain();
    await stopWorker();
    await list.close();
  },
);
