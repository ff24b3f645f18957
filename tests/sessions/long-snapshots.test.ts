import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import type { EmbeddedRuntime, SessionStore } from '../../src/sessions/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import type { ScriptedAnswer } from '../../src/testing/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { ann, newProcess } from './stage.ts';

const steps = 40;
const secret = 'walnut-otter-77';

let folder: string;
let stores: SessionStore[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stepline-long-'));
  stores = [];
});
afterEach(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true });
});

/** A session that is long enough for a snapshot at its end. */
function start(isFirst = true): { readonly runtime: EmbeddedRuntime; readonly store: SessionStore } {
  const read = defineTool({
    name: 'read',
    description: 'Reads a page.',
    input: { type: 'object', properties: { page: { type: 'number' } } } as const,
    run: ({ page }) => `${page === 3 ? secret : 'page'} ${String(page)}: ${'word '.repeat(2000)}`,
  });
  const calls = Array.from({ length: steps - 1 }, (_, page): ScriptedAnswer => ({
    toolCalls: [{ id: `call-${page}`, name: 'read', args: { page } }],
  }));
  const model = scriptedModel(isFirst ? [...calls, { text: 'Read.' }] : [{ text: 'Again.' }]);
  const agent = createAgent({ id: 'reader', model, tools: [read], limits: { steps: 100 } });
  const store = sqliteStore({ path: join(folder, 'sessions.db') });
  stores.push(store);
  return { runtime: createSessionRuntime({ ...newProcess, agents: [agent], store }), store };
}

async function readSnapshot(store: SessionStore): Promise<string> {
  const stored = await store.log.load('s');
  const [entry] = stored?.entries ?? [];
  if (entry?.isSnapshot !== true || entry.n === 1) throw new Error('There is no snapshot at the end.');
  return entry.body;
}

test('a long session is stored in lines, opens unchanged, and can continue', async () => {
  const first = start();
  await first.runtime.create({ id: 's' }, { by: ann });
  await first.runtime.send('s', 'Read the book.', { by: ann });
  const before = JSON.stringify((await first.runtime.get('s')).state);
  await first.runtime.drain();
  expect((await readSnapshot(first.store)).split('\n')).toHaveLength(5);
  const second = start(false);
  const session = await second.runtime.get('s');
  expect([session.status, session.text, session.stepCount]).toStrictEqual(['completed', 'Read.', steps]);
  expect(JSON.stringify(session.state)).toBe(before);
  const { state } = await second.runtime.send('s', 'And?', { by: ann });
  expect([state.session.stepCount, state.messages.length, state.messages.at(0)?.text]).toStrictEqual([
    steps + 1,
    2 * steps + 2,
    'Read the book.',
  ]);
  await second.runtime.drain();
});

test('erasing a message also removes it from the lines of a snapshot', async () => {
  const first = start();
  await first.runtime.create({ id: 's' }, { by: ann });
  await first.runtime.send('s', 'Read the book.', { by: ann });
  await first.runtime.drain();
  expect(await readSnapshot(first.store)).toContain(secret);
  const second = start(false);
  const { state } = await second.runtime.get('s');
  const message = state.messages.find((each) => JSON.stringify(each).includes(secret));
  await second.runtime.eraseMessage('s', message?.id ?? '', { by: ann });
  await second.runtime.drain();
  for (const store of stores.splice(0)) await store.close();
  expect(readFileSync(join(folder, 'sessions.db')).includes(secret)).toBe(false);
  const third = start(false);
  const { state: after } = await third.runtime.get('s');
  expect([after.stepCount, after.messages.length, JSON.stringify(after).includes('page 4')]).toStrictEqual([steps, 2 * steps, true]);
  expect(JSON.stringify(after)).not.toContain(secret);
  await third.runtime.drain();
});
