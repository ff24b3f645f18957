// Messages that hooks return are checked where they enter: a session never stores what it cannot read again.
import { describe, expect, test } from 'vitest';
import type { Hook, Json, Part, ToolUseState } from '../../src/entry/index.ts';
import { createAgent, defineHook, Message, MessageStore, SteplineError } from '../../src/entry/index.ts';
import { createFakeClock } from '../../src/lib/index.ts';
import { createMemoryPlace, createSessionRuntime } from '../../src/sessions/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';

const by = { id: 'ann', kind: 'user' } as const;

function nest(depth: number): Json {
  let value: Json = {};
  for (let level = 0; level < depth; level += 1) value = { in: value };
  return value;
}

const malformed: readonly (readonly [string, () => Message])[] = [
  ['an unknown role', () => Message.of('robot' as never, 'Hi.')],
  ['an unknown part', () => Message.assistant([{ type: 'hologram' } as never])],
  ['a text that is a number', () => Message.assistant([{ type: 'text', text: 7 } as never])],
  ['a call without a name', () => Message.assistant([{ type: 'tool-call', toolCallId: 'c', args: {} } as never])],
  ['a name that is a number', () => Message.assistant('Hi.', { name: 7 as never })],
  ['an id that is a number', () => Message.assistant('Hi.', { id: 7 as never })],
  ['metadata that is a list', () => Message.assistant('Hi.', { metadata: [] as never })],
  ['deep metadata', () => Message.assistant('Hi.', { metadata: { deep: nest(20_000) } })],
  ['deep metadata, added later', () => Message.assistant('Hi.').withMetadata('deep', nest(20_000))],
  ['deep metadata of a part', () => Message.assistant([{ type: 'text', text: 'Hi.', providerMetadata: { deep: nest(20_000) } }])],
  ['deep options', () => Message.assistant('Hi.').withProviderOptions({ deep: nest(20_000) })],
  ['parts that are changed later', () => Message.assistant('Hi.').withParts([{ type: 'hologram' } as unknown as Part])],
  ['something that is not a message', () => ({ role: 'assistant', content: 'Hi.' }) as never],
  ['a file that no model can read', () => Message.assistant([{ type: 'file', url: 'report', mediaType: 'application/pdf' }])],
  [
    'a copy with another role',
    // Holds: that is how objects of a class are copied in JavaScript.
    () => Object.assign(Object.create(Message.prototype) as Message, Message.assistant('Hi.'), { role: 'robot' }),
  ],
];

const hooks: readonly (readonly [string, (make: () => Message) => Hook<ToolUseState, unknown>])[] = [
  ['afterStep: output', (make) => defineHook({ name: 'spoil', changes: ['output'], afterStep: () => ({ output: [make()] }) })],
  [
    'beforeStep: conversation',
    (make) =>
      defineHook({
        name: 'spoil',
        changes: ['conversation'],
        beforeStep: ({ state }) => ({ conversation: state.store.append('messages', make()) }),
      }),
  ],
  [
    'beforeStep: another conversation',
    (make) =>
      defineHook({
        name: 'spoil',
        changes: ['conversation'],
        beforeStep: () => ({ conversation: MessageStore.empty().withSection('messages', [Message.user('Hi.'), make()]) }),
      }),
  ],
];

describe.each(hooks)('a hook that returns a malformed message (%s)', (_, toHook) => {
  test.each(malformed)('fails, and the session can be read after a restart: %s', async (_what, make) => {
    const place = createMemoryPlace();
    const start = () =>
      createSessionRuntime({
        store: place.open(),
        agents: [createAgent({ id: 'a', model: scriptedModel([{ text: 'Hi.' }]), hooks: [toHook(make)] })],
        clock: createFakeClock(),
        onProblem: () => undefined,
      });
    const first = start();
    await first.create({ id: 'one' }, { by });
    const result = await first.send('one', 'Hello.', { by });
    expect(result.status).toBe('failed');
    expect(result.explain()).toContain('Hook "spoil" failed');
    await first.drain();
    const second = start();
    expect((await second.get('one')).status).toBe('failed');
    expect((await second.send('one', 'Again.', { by })).status).toBe('failed');
    await second.drain();
  });
});

test.each(malformed.slice(0, -3))('a message with %s is refused with a code where it is made', (_, make) => {
  const error = ((): unknown => {
    try {
      return make();
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(SteplineError.is(error) && [error.code, error.message.length < 500]).toEqual(['invalid-argument', true]);
  expect(error).toMatchObject({ message: expect.stringContaining('A message cannot hold this: ') as string });
});
