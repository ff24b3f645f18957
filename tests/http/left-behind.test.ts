// Readers of events that leave in the middle leave nothing behind.
import { createServer } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createSessionHandler, toNodeListener } from '../../src/broadcasting/http/index.ts';
import { createFakeClock } from '../../src/testing/index.ts';
import { countReaders } from '../support/count-readers.ts';
import { ann, authenticate, authorize, listen, newSession, openSite } from './stage.ts';

it('two hundred readers of events that leave leave no reader and no timer behind, and are not reported', async () => {
  const site = await openSite();
  const id = await site.start(ann);
  await site.runtime.send(id, 'write one two@g three', { by: { id: 'ann', kind: 'user' }, until: 'accepted' });
  const { runtime, count, total } = countReaders(site.runtime);
  const clock = createFakeClock();
  const problems: unknown[] = [];
  const handle = createSessionHandler(runtime, {
    authenticate,
    authorize,
    newSession,
    clock,
    onProblem: (error) => void problems.push(error),
  });
  const url = `${await listen(createServer(toNodeListener(handle)))}/sessions/${id}/events`;
  const leaveEarly = async (): Promise<void> => {
    const leaving = new AbortController();
    const headers = { 'x-caller': ann, accept: 'text/event-stream' };
    const response = await fetch(url, { headers, signal: leaving.signal });
    expect((await response.body?.getReader().read())?.done).toBe(false);
    leaving.abort();
  };
  for (let round = 0; round < 20; round += 1) await Promise.all(Array.from({ length: 10 }, leaveEarly));
  expect(total()).toBeGreaterThan(200);
  await expect.poll(() => [count(), clock.pendingTimers()]).toEqual([0, 0]);
  site.open('g');
  await expect.poll(async () => (await site.runtime.get(id)).status).toBe('completed');
  expect(problems).toEqual([]);
});

it('a reader that leaves is noticed, also if its request was collected as garbage meanwhile', async () => {
  setFlagsFromString('--expose-gc');
  // Holds: the flag puts it there.
  const collect = runInNewContext('gc') as () => void;
  const site = await openSite();
  const id = await site.start(ann);
  await site.runtime.send(id, 'write one two@g three', { by: { id: 'ann', kind: 'user' }, until: 'accepted' });
  const { runtime, count } = countReaders(site.runtime);
  const handle = createSessionHandler(runtime, { authenticate, authorize, newSession, clock: createFakeClock() });
  const leaving = new AbortController();
  // Nobody keeps the request: a framework hands it over and forgets it.
  const open = (): Promise<Response> =>
    handle(
      new Request(`http://host/sessions/${id}/events`, {
        signal: leaving.signal,
        headers: { 'x-caller': ann, accept: 'text/event-stream' },
      }),
    );
  const read = async (): Promise<void> => {
    const reader = (await open()).body?.getReader();
    while ((await reader?.read())?.done === false) continue;
  };
  const reading = read();
  await expect.poll(count).toBeGreaterThan(0);
  for (let pass = 0; pass < 5; pass += 1) {
    collect();
    // What is collected is only noticed in a later turn of the event loop.
    await new Promise((resolve) => void setImmediate(resolve));
  }
  leaving.abort();
  await expect.poll(count).toBe(0);
  await reading;
  site.open('g');
  await expect.poll(async () => (await site.runtime.get(id)).status).toBe('completed');
});
