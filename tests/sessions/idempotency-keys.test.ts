// Keys that a tool gets for a call: the same at every attempt, and never those of another call.
import { expect, test } from 'vitest';
import { createAgent, defineTool } from '../../src/entry/index.ts';
import type { ModelRequest } from '../../src/inference/index.ts';
import { createMemoryStore, createSessionRuntime } from '../../src/sessions/index.ts';
import type { ScriptedAnswer } from '../../src/testing/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { ann } from './stage.ts';

/** Makes one call per step, under the ids that the user names. */
const answer = ({ messages }: ModelRequest): ScriptedAnswer => {
  const last = messages.findLastIndex((message) => message.isUser());
  const done = messages.slice(last + 1).filter((message) => message.isAssistant()).length;
  const id = messages[last]?.text.split(' ')[done];
  return id === undefined ? { text: 'Done.' } : { toolCalls: [{ name: 'note', id }] };
};

async function collectKeys(sessions: readonly (readonly [id: string, ...messages: string[]])[]): Promise<readonly string[]> {
  const keys: string[] = [];
  const note = defineTool({
    name: 'note',
    description: 'Notes.',
    input: { type: 'object', properties: {} },
    run: (_, { idempotencyKey }) => {
      keys.push(idempotencyKey);
    },
  });
  const agent = createAgent({ model: scriptedModel([answer], { repeatLast: true }), tools: [note] });
  const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore() });
  for (const [id, ...messages] of sessions) {
    await runtime.create({ id }, { by: ann });
    for (const message of messages) await runtime.send(id, message, { by: ann });
  }
  return keys;
}

test('are session, execution, step and call, each of them escaped', async () => {
  expect(
    await collectKeys([
      ['desk', 'c1 c2'],
      ['acme/7', 'a/b'],
      ['100%', 'c'],
    ]),
  ).toStrictEqual(['desk/1/1/c1', 'desk/1/2/c2', 'acme%2F7/1/1/a%2Fb', '100%25/1/1/c']);
});

test('differ for sessions and calls whose ids read alike when they are joined', async () => {
  const keys = await collectKeys([
    ['a', 'c1 3/x'],
    ['a/1', 'c1', 'c1 c2 x'],
    ['a%2F1', 'c1'],
  ]);
  expect(new Set(keys).size).toBe(keys.length);
});
