// Runs that are aborted in the middle of a stream leave nothing behind.
import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { createAgUiHandler } from '../../src/broadcasting/ag-ui/index.ts';
import { toNodeListener } from '../../src/broadcasting/http/index.ts';
import { createFakeClock } from '../../src/testing/index.ts';
import { ann, authenticate, authorize, listen, newSession } from '../http/stage.ts';
import { countReaders } from '../support/count-readers.ts';
import { openAgUiSite, readEvents } from './stage.ts';

it('two hundred pages that leave a run in mid-answer leave no reader and no timer behind, and stop nothing', async () => {
  const site = await openAgUiSite();
  const { runtime, count, total } = countReaders(site.runtime);
  const clock = createFakeClock();
  const problems: unknown[] = [];
  const handle = createAgUiHandler(runtime, {
    authenticate,
    authorize,
    newSession,
    clock,
    onProblem: (error) => void problems.push(error),
  });
  const url = await listen(createServer(toNodeListener(handle)));
  const messages = [{ id: 'm', role: 'user', content: 'write one two@g three' }];
  const run = (signal?: AbortSignal): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: { 'x-caller': ann, 'content-type': 'application/json' },
      body: JSON.stringify({ threadId: 't', runId: 'r', messages }),
      ...(signal !== undefined && { signal }),
    });
  const leaveEarly = async (): Promise<void> => {
    const leaving = new AbortController();
    const response = await run(leaving.signal);
    // Holds: the body of a response is bytes.
    const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader();
    for (let text = ''; !text.includes('TEXT_MESSAGE_CONTENT');) {
      const next = await reader?.read();
      if (next?.value === undefined) throw new Error(`The run has ended: ${text}`);
      text += new TextDecoder().decode(next.value);
    }
    leaving.abort();
  };
  for (let round = 0; round < 20; round += 1) await Promise.all(Array.from({ length: 10 }, leaveEarly));
  expect(total()).toBeGreaterThan(200);
  await expect.poll(() => [count(), clock.pendingTimers()]).toEqual([0, 0]);
  site.open('g');
  expect((await readEvents(await run())).at(-1)).toMatchObject({ outcome: { type: 'success' } });
  expect((await runtime.list()).sessions).toMatchObject([{ status: 'completed', executions: 1 }]);
  expect(problems).toEqual([]);
});
