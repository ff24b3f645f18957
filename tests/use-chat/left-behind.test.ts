// Requests that are aborted in the middle of a stream leave nothing behind.
import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { createAgent } from '../../src/agent/index.ts';
import { toNodeListener } from '../../src/broadcasting/http/index.ts';
import { chatRoutes } from '../../src/broadcasting/ui-message-stream/index.ts';
import { createMemoryStore, createSessionRuntime } from '../../src/sessions/index.ts';
import { createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import { listen } from '../http/stage.ts';
import { countReaders } from '../support/count-readers.ts';

/** Reads the beginning of a stream, and leaves. */
async function leaveEarly(url: string, init: RequestInit = {}): Promise<void> {
  const leaving = new AbortController();
  const response = await fetch(url, { ...init, signal: leaving.signal });
  const first = await response.body?.getReader().read();
  expect([response.status, first?.done]).toEqual([200, false]);
  leaving.abort();
}

it('two hundred pages that leave a chat in mid-answer leave no reader and no timer behind, and stop nothing', async () => {
  let release = (): void => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  async function* write() {
    yield 'One ';
    await gate;
    yield 'two.';
  }
  const model = scriptedModel([{ chunks: write() }]);
  const embedded = createSessionRuntime({ agents: [createAgent({ model })], store: createMemoryStore() });
  onTestFinished(() => embedded.drain({ timeoutMs: 0 }));
  const { runtime, count, total } = countReaders(embedded);
  const clock = createFakeClock();
  const problems: unknown[] = [];
  const { handle } = chatRoutes(runtime, {
    authenticate: () => ({ id: 'ann', kind: 'user' }),
    authorize: () => true,
    newSession: () => ({}),
    clock,
    onProblem: (error) => void problems.push(error),
  });
  const url = `${await listen(createServer(toNodeListener(handle)))}/api/chat`;
  const body = JSON.stringify({ id: 'c1', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'Count.' }] }] });
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
  await leaveEarly(url, post);
  for (let round = 0; round < 20; round += 1)
    await Promise.all(Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? leaveEarly(`${url}/c1/stream`) : leaveEarly(url, post))));
  expect(total()).toBeGreaterThan(400);
  await expect.poll(() => [count(), clock.pendingTimers()]).toEqual([0, 0]);
  release();
  const answer = await (await fetch(`${url}/c1/stream`)).text();
  expect(answer).toContain('two.');
  expect((await runtime.list()).sessions).toMatchObject([{ status: 'completed', executions: 1 }]);
  expect([problems, model.calls.length]).toEqual([[], 1]);
});
