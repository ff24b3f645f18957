// Names of a megabyte, where people and programs meet them: compared with nothing, and never repeated whole.
import { expect, onTestFinished, test } from 'vitest';
import { createAgUiHandler } from '../src/broadcasting/ag-ui/index.ts';
import { chatRoutes } from '../src/broadcasting/ui-message-stream/index.ts';
import { createAgent, defineTool } from '../src/entry/index.ts';
import { createMemoryStore, createSessionRuntime } from '../src/entry/sessions.ts';
import { scriptedModel } from '../src/entry/testing.ts';
import { ann, authenticate, authorize, newSession, openSite } from './http/stage.ts';

// Callers without a compiler, or with a cast, pass anything.
const anything = (value: unknown): never => value as never;

const long = 'k'.repeat(1_000_000);
const model = scriptedModel(['Hello.'], { repeatLast: true });
const by = { id: 'ann', kind: 'user' } as const;

async function readMessage(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  return 'nothing was thrown';
}

/** Counts the letters that are compared while something is called: each comparison takes the least of several numbers. */
function countComparisons(call: () => void): number {
  const { min } = Math;
  let count = 0;
  Math.min = (...numbers) => {
    count += 1;
    if (count > 100_000) throw new Error('Too many comparisons.');
    return min(...numbers);
  };
  try {
    call();
  } catch {
    // The mistake is on purpose.
  } finally {
    Math.min = min;
  }
  return count;
}

function openRuntime(): ReturnType<typeof createSessionRuntime> {
  const runtime = createSessionRuntime({ agents: [createAgent({ id: 'desk', model })], store: createMemoryStore() });
  onTestFinished(() => runtime.drain({ timeoutMs: 0 }));
  return runtime;
}

test('an option of a megabyte is not compared with the valid ones', () => {
  expect(countComparisons(() => createAgent(anything({ modle: 1 })))).toBeGreaterThan(10);
  expect(countComparisons(() => createAgent(anything({ [long]: 1 })))).toBe(0);
});

test.each<readonly [string, () => unknown, RegExp]>([
  ['an option', () => createAgent(anything({ model, [long]: 1 })), /^Unknown option "k{60}…" in createAgent\(\)\. Valid options: /],
  ['an option of a tool', () => defineTool(anything({ name: 'a', [long]: 1 })), /k{60}…/],
  ['the id of a session', () => openRuntime().get(long), /^There is no session "k{60}…" in this store\./],
  ['a cursor', () => openRuntime().list({ cursor: long }), /^Unknown cursor "k{60}…"\./],
  ['a filter', () => openRuntime().list(anything({ [long]: 1 })), /k{60}…/],
  ['an agent', () => openRuntime().create({ agent: long }, { by }), /k{60}…/],
])('%s of a megabyte is cut in the error', async (_, call, expected) => {
  const message = await readMessage(call);
  expect(message).toMatch(expected);
  expect(message.length).toBeLessThan(1000);
});

test('an id of a megabyte that is quoted whole leaves the beginning and the end of its error', async () => {
  const runtime = openRuntime();
  await runtime.create({ id: long }, { by });
  const message = await readMessage(() => runtime.create({ id: long }, { by }));
  expect(message).toMatch(/^Session "kkk.*990\d\d\d characters left out.*Use another id, or the existing session\.$/);
  expect(message.length).toBeLessThan(11_000);
});

test('a key of a megabyte in a request over HTTP is cut in the answer', async () => {
  const site = await openSite({ handler: { maxBodyBytes: 3_000_000 } });
  const id = await site.start(ann);
  const sent = await site.request(ann, 'POST', `/sessions/${id}/messages`, { text: 'Hi', [long]: 1 });
  expect(sent.body.error.message).toMatch(/^Unknown option "k{60}…" in the body\./);
  expect(sent.status).toBe(400);
  const part = await site.request(ann, 'POST', `/sessions/${id}/messages`, { content: [{ type: long, [long]: 1 }] });
  expect([part.status, part.body.error.message.length < 1000]).toEqual([400, true]);
});

test('a key or an id of a megabyte in a request of AG-UI or useChat is cut in the answer', async () => {
  const runtime = openRuntime();
  const options = { authenticate, authorize, newSession, maxBodyBytes: 3_000_000 };
  const [agUi, chat] = [createAgUiHandler(runtime, options), chatRoutes(runtime, options).POST];
  const post = async (handler: (request: Request) => Promise<Response>, value: unknown): Promise<readonly [number, boolean]> => {
    const headers = { 'x-caller': ann, 'content-type': 'application/json' };
    const response = await handler(new Request('http://localhost/api/chat', { method: 'POST', headers, body: JSON.stringify(value) }));
    return [response.status, (await response.text()).length < 1000];
  };
  const input = { threadId: 't', runId: 'r', messages: [], tools: [], context: [], state: {}, forwardedProps: {} };
  expect(await post(agUi, { ...input, threadId: long })).toEqual([400, true]);
  expect(await post(agUi, { ...input, messages: [{ id: 'm', role: 'user', content: [{ type: long }] }] })).toEqual([400, true]);
  expect(await post(chat, { id: long, messages: [] })).toEqual([400, true]);
  expect(await post(chat, { id: 'c', messages: [{ id: 'm', role: long, parts: [] }] })).toEqual([400, true]);
});

test('a key of a megabyte in the arguments of a call is cut in what the model reads', async () => {
  const input = { type: 'object', properties: {}, additionalProperties: false } as const;
  const tool = defineTool({ name: 'look', description: 'Looks.', input, run: () => 'seen' });
  const calling = scriptedModel([{ toolCalls: [{ name: 'look', args: { [long.slice(0, 500_000)]: 1 } }] }, 'Done.']);
  const result = await createAgent({ model: calling, tools: [tool] }).start('Look.').result;
  const [execution] = result.state.steps[0]?.executions ?? [];
  expect(JSON.stringify(execution?.output ?? null).length).toBeLessThan(1000);
  expect(JSON.stringify(execution?.output ?? null)).toContain('k'.repeat(60));
});
