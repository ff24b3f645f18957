// What is nested far too deep is refused in words wherever it is given: it never ends in an overflow of the stack.
import { expect, test } from 'vitest';
import type { JsonObject } from '../src/lib/index.ts';
import { createAgent, defineClientTool, defineTool, Message, SteplineError, ToolUse } from '../src/entry/index.ts';
import { scriptedModel } from '../src/testing/index.ts';

const depth = 100_000;

function nest(wrap: (inner: JsonObject) => JsonObject): JsonObject {
  let value: JsonObject = { type: 'string' };
  for (let level = 0; level < depth; level += 1) value = wrap(value);
  return value;
}

const data = nest((inner) => ({ inner }));
const schema = nest((inner) => ({ type: 'object', properties: { inner } }));
const named = { name: 'look', description: 'Looks.' };
const flat = { type: 'object' } as const;
const model = scriptedModel(['Done.']);

test.each<readonly [string, () => unknown]>([
  ['the input of defineTool()', () => defineTool({ ...named, input: schema, run: () => 'done' })],
  ['the input of defineClientTool()', () => defineClientTool({ ...named, input: schema })],
  ['the output of defineClientTool()', () => defineClientTool({ ...named, input: flat, output: schema })],
  ['the output of createAgent()', () => createAgent({ id: 'desk', model, output: schema })],
  ['the output of ToolUse', () => new ToolUse({ model, output: schema })],
  ['a default in a schema', () => defineTool({ ...named, input: { ...flat, default: data }, run: () => 'done' })],
  ['the metadata of a message', () => Message.user('Hi.', { metadata: { data } })],
  [
    'the arguments of a call',
    () => Message.fromJSON({ id: 'm', role: 'assistant', parts: [{ type: 'tool-call', toolCallId: 'c', toolName: 'look', args: data }] }),
  ],
  ['a state to restore', () => createAgent({ id: 'desk', model }).restore({ kind: 'agent-state', schema: 1, data })],
])('%s', (_, give) => {
  let thrown: unknown;
  try {
    give();
  } catch (error) {
    thrown = error;
  }
  expect(SteplineError.is(thrown)).toBe(true);
  expect(String(thrown)).toMatch(/nested deeper|Damaged data/);
});
