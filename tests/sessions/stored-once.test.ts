// A message that is sent stands once in the log of its session.
import { expect, test } from 'vitest';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import type { EmbeddedRuntime } from '../../src/sessions/index.ts';
import { createMemoryPlace, createSessionRuntime } from '../../src/sessions/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { createGate, newProcess } from './stage.ts';

const by = { id: 'ann', kind: 'user' };
const input = { type: 'object', properties: {} } as const;

function setUp() {
  const place = createMemoryPlace();
  const gate = createGate();
  const wait = defineTool({
    name: 'wait',
    description: 'Waits.',
    input,
    run: async () => {
      gate.reach();
      await gate.passed;
      return 'done';
    },
  });
  const pay = defineTool({ name: 'pay', description: 'Pays.', input, needsApproval: true, run: () => 'paid' });
  const open = (script: Parameters<typeof scriptedModel>[0]): EmbeddedRuntime => {
    const agent = createAgent({ id: 'desk', model: scriptedModel(script, { repeatLast: true }), tools: [wait, pay] });
    return createSessionRuntime({ ...newProcess, agents: [agent], store: place.open() });
  };
  /** The number of times that a text stands in the bodies of the log. */
  const count = async (id: string, text: string): Promise<number> =>
    (await place.open().log.entries(id)).map(({ body }) => body.split(text).length - 1).reduce((sum, times) => sum + times, 0);
  /** The texts that a new runtime reads. */
  const readAgain = async (id: string): Promise<readonly string[]> =>
    (await open([{ text: 'unused' }]).get(id)).state.messages.toArray().flatMap((message) => (message.isUser() ? [message.text] : []));
  return { gate, open, count, readAgain };
}

test('a message to a session at rest', async () => {
  const { open, count, readAgain } = setUp();
  const runtime = open([{ text: 'Hello.' }]);
  const { id } = await runtime.create({}, { by });
  await runtime.send(id, 'needle', { by });
  expect(await count(id, 'needle')).toBe(1);
  expect((await runtime.actions(id)).at(-1)).toMatchObject({ type: 'send', message: { content: 'needle' } });
  expect(await readAgain(id)).toStrictEqual(['needle']);
});

test('messages that come while a step is open', async () => {
  const { gate, open, count, readAgain } = setUp();
  const runtime = open([{ toolCalls: [{ name: 'wait' }] }, { text: 'Hello.' }]);
  const { id } = await runtime.create({}, { by });
  const first = runtime.send(id, 'first', { by });
  await gate.reached;
  await runtime.send(id, 'needle one', { by, until: 'accepted' });
  await runtime.send(id, 'needle two', { by, until: 'accepted' });
  gate.open();
  await first;
  expect(await count(id, 'needle')).toBe(2);
  expect(await readAgain(id)).toStrictEqual(['first', 'needle one', 'needle two']);
});

test('a message that supersedes a step that waits', async () => {
  const { open, count, readAgain } = setUp();
  const runtime = open([{ toolCalls: [{ name: 'pay' }] }, { text: 'Hello.' }]);
  const { id } = await runtime.create({}, { by });
  expect((await runtime.send(id, 'first', { by })).status).toBe('waiting');
  await runtime.send(id, 'needle', { by });
  expect(await count(id, 'needle')).toBe(1);
  expect(await readAgain(id)).toStrictEqual(['first', 'needle']);
});

test('a message to a step that goes on with an answer before it is superseded', async () => {
  const { open, count, readAgain } = setUp();
  const runtime = open([
    {
      toolCalls: [
        { name: 'pay', id: 'a' },
        { name: 'pay', id: 'b' },
      ],
    },
    { text: 'Hello.' },
  ]);
  const { id } = await runtime.create({}, { by });
  const { waitingFor } = await runtime.send(id, 'first', { by });
  await Promise.all([runtime.approve(id, waitingFor[0]!, { by }), runtime.send(id, 'needle', { by })]);
  expect(await count(id, 'needle')).toBe(1);
  expect(await readAgain(id)).toStrictEqual(['first', 'needle']);
});
