// The events of all sessions in one order, on stores in memory and in SQLite.
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { EmbeddedRuntime, FeedItem, FeedOptions } from '../../src/sessions/index.ts';
import { createSessionRuntime, encryptStore } from '../../src/sessions/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import { ann, bob, getWait, places, readEvents, sqlitePlace, stageOn } from './stage.ts';

async function readFeed(runtime: EmbeddedRuntime, options: FeedOptions = {}): Promise<readonly FeedItem[]> {
  const items: FeedItem[] = [];
  for await (const item of runtime.feed(options)) items.push(item);
  return items;
}

const describeItem = ({ sessionId, event }: FeedItem): string => `${sessionId} ${event.seq} ${event.type}`;
const ofSession = (items: readonly FeedItem[], id: string): readonly unknown[] =>
  items.filter(({ sessionId }) => sessionId === id).map(({ event }) => event);

describe.each(places)('the feed of a store in %s', (_, newPlace) => {
  test('has the events of every session, as events() reads them', async () => {
    const stage = stageOn(newPlace());
    const runtime = stage.start();
    await runtime.create({ id: 'a', tenant: 't', owner: 'ann' }, { by: ann });
    await runtime.create({ id: 'b' }, { by: ann });
    await Promise.all([
      runtime.send('a', 'look 1; look 2; say Found.', { by: ann }),
      runtime.send('b', 'note 1; pay 5; say Paid.', { by: ann }),
    ]);
    await runtime.approve('b', await getWait(runtime, 'b'), { by: bob });
    const items = await readFeed(runtime);
    for (const id of ['a', 'b']) expect(ofSession(items, id)).toStrictEqual(await readEvents(runtime, id));
    expect(items.find(({ sessionId }) => sessionId === 'a')).toMatchObject({ tenant: 't', owner: 'ann', agent: { id: 'desk' } });
    expect(items.map(({ cursor }) => cursor)).toHaveLength(new Set(items.map(({ cursor }) => cursor)).size);
    expect(items.map(({ event }) => event).find((event) => event.type === 'ToolApprovalRequested')?.digest).toMatch(/^[0-9a-f]{64}$/);
  });

  test('continues after the cursor of any item', async () => {
    const stage = stageOn(newPlace());
    const runtime = stage.start();
    for (const id of ['a', 'b']) {
      await runtime.create({ id }, { by: ann });
      await runtime.send(id, 'look 1; say Found.', { by: ann });
    }
    const items = await readFeed(runtime);
    for (const [index, { cursor }] of items.entries())
      expect((await readFeed(runtime, { after: cursor })).map(describeItem)).toStrictEqual(items.slice(index + 1).map(describeItem));
    expect(await readFeed(runtime, { after: 'end' })).toStrictEqual([]);
  });

  test('reads one tenant, some types, and no secrets if asked', async () => {
    const stage = stageOn(newPlace());
    const runtime = stage.start();
    for (const [id, tenant] of [
      ['a', 't'],
      ['b', 'other'],
    ] as const) {
      await runtime.create({ id, tenant }, { by: ann });
      await runtime.send(id, 'pay 1; say My key is sk-abcdefghijklmnopqrstuvwxyz012345.', { by: ann });
    }
    const types = ['ToolApprovalRequested', 'UserMessageReceived'];
    const items = await readFeed(runtime, { tenant: 't', types });
    expect(items.map(describeItem)).toStrictEqual(['a 1 UserMessageReceived', expect.stringContaining('ToolApprovalRequested')]);
    expect(JSON.stringify(items)).toContain('sk-abcdef');
    const redacted = await readFeed(runtime, { redact: true });
    expect(JSON.stringify(redacted)).not.toContain('sk-abcdef');
    expect(redacted).toHaveLength((await readFeed(runtime)).length);
  });

  test('has nothing that a fork has copied', async () => {
    const stage = stageOn(newPlace());
    const runtime = stage.start();
    await runtime.create({ id: 'a' }, { by: ann });
    await runtime.send('a', 'look 1; look 2; say Found.', { by: ann });
    await runtime.fork('a', { execution: 1, step: 1 }, { by: bob, id: 'fork' });
    await runtime.resume('fork', { by: ann });
    await runtime.fork('fork', { execution: 1, step: 2 }, { by: bob, id: 'again' });
    await runtime.send('again', 'say Hello.', { by: ann });
    const items = await readFeed(runtime);
    expect(ofSession(items, 'a')).toStrictEqual(await readEvents(runtime, 'a'));
    for (const id of ['fork', 'again']) {
      const own = (await readEvents(runtime, id)).filter(({ executionId }) => executionId.startsWith(`${id}/`));
      expect(own.length).toBeGreaterThan(0);
      expect(ofSession(items, id)).toStrictEqual(own);
    }
  });

  test('has nothing of a deleted session, and erased words', async () => {
    const stage = stageOn(newPlace());
    const runtime = stage.start();
    for (const id of ['a', 'gone']) {
      await runtime.create({ id }, { by: ann });
      await runtime.send(id, 'say Nobody knows.', { by: ann });
    }
    const { state } = await runtime.get('a');
    const before = await readFeed(runtime);
    await runtime.delete('gone', { by: ann });
    for (const message of state.messages.toArray()) await runtime.eraseMessage('a', message.id, { by: ann });
    const items = await readFeed(runtime);
    expect(items.map(describeItem)).toStrictEqual(before.filter(({ sessionId }) => sessionId === 'a').map(describeItem));
    expect(JSON.stringify(before)).toContain('Nobody knows');
    expect(JSON.stringify(items)).not.toContain('Nobody knows');
  });

  test('is followed by a client, through the end of one worker and the start of the next', async () => {
    const place = newPlace();
    const stage = stageOn(place);
    const worker = stage.start();
    const client = createSessionRuntime({ agents: [stage.agent()], store: place.open(), role: 'client' });
    const seen: string[] = [];
    const leaving = new AbortController();
    const following = (async () => {
      for await (const item of client.feed({ follow: true, signal: leaving.signal })) seen.push(describeItem(item));
    })();
    await worker.create({ id: 'a' }, { by: ann });
    await worker.send('a', 'look 1; say Found.', { by: ann });
    await worker.drain();
    const next = stage.start();
    await next.create({ id: 'b' }, { by: ann });
    await next.send('b', 'say Hello.', { by: ann });
    const all = (await readFeed(next)).map(describeItem);
    await expect.poll(() => seen.length, { timeout: 10_000 }).toBe(all.length);
    expect(seen).toStrictEqual(all);
    leaving.abort();
    await following;
    await client.drain();
    await next.drain();
  });
});

test('a damaged session is reported and left out; the feed goes on', async () => {
  const place = sqlitePlace();
  const stage = stageOn(place);
  const runtime = stage.start();
  for (const id of ['a', 'b', 'c']) {
    await runtime.create({ id }, { by: ann });
    await runtime.send(id, 'say Hello.', { by: ann });
  }
  await runtime.drain();
  const raw = new DatabaseSync(String(place.path));
  raw.exec(`UPDATE log SET events = replace(events, 'seq', 'sea') WHERE session = 2 AND events IS NOT NULL`);
  raw.exec(`UPDATE feed SET n = n + 1000 WHERE session = 3`);
  raw.close();
  const problems: unknown[] = [];
  const onProblem = (error: unknown): void => void problems.push(error);
  const client = createSessionRuntime({ agents: [stage.agent()], store: place.open(), role: 'client', onProblem });
  const items = await readFeed(client);
  expect(new Set(items.map(({ sessionId }) => sessionId))).toStrictEqual(new Set(['a']));
  expect(problems).toContainEqual(expect.objectContaining({ code: 'session-damaged', sessionId: 'b' }));
  expect(problems).toContainEqual(
    expect.objectContaining({ code: 'session-damaged', damage: 'a row of the feed does not match its checksum' }),
  );
  await client.drain();
});

test('an encrypted store feeds what it can decrypt', async () => {
  const place = createMemoryPlace();
  const shift = (by: number) => (text: string) => [...text].map((char) => String.fromCodePoint((char.codePointAt(0) ?? 0) + by)).join('');
  const open = () => encryptStore(place.open(), { encrypt: shift(1), decrypt: shift(-1) });
  const stage = stageOn({ open });
  const runtime = stage.start();
  await runtime.create({ id: 'a' }, { by: ann });
  await runtime.send('a', 'say Secret words.', { by: ann });
  expect(JSON.stringify(await readFeed(runtime))).toContain('Secret words');
  expect(JSON.stringify(await place.open().feed.read())).not.toContain('Secret words');
  await runtime.drain();
});

test('options that make no sense are refused', async () => {
  const runtime = stageOn(createMemoryPlace()).start();
  for (const options of [{ types: [] }, { types: 'x' }, { after: 'x y' }, { after: 7 }, { follow: 1 }, { type: ['x'] }, { tenant: '' }])
    await expect((async () => readFeed(runtime, options as FeedOptions))()).rejects.toMatchObject({ code: 'invalid-argument' });
});
