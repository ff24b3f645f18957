import type { UIMessageChunk } from 'ai';
import { readUIMessageStream, uiMessageChunkSchema } from 'ai';
import { describe, expect, it } from 'vitest';
import { createAgent } from '../../agent/index.ts';
import { createMemoryStore, createSessionRuntime } from '../../sessions/index.ts';
import { scriptedModel } from '../../testing/index.ts';
import { defineClientTool, defineTool } from '../../tools/index.ts';
import type { AgentUIMessage } from './answer-types.ts';
import type { UIMessageSource } from './to-ui-message-stream.ts';
import { toUIMessageStream } from './to-ui-message-stream.ts';

const nothing = { type: 'object', properties: {} } as const;
const look = defineTool({ name: 'look', description: 'Looks.', input: nothing, run: () => ({ found: 2 }) });
const fail = defineTool({
  name: 'fail',
  description: 'Fails.',
  input: nothing,
  run: () => {
    throw new Error('disk full');
  },
});
const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: { type: 'object', properties: { euros: { type: 'number' } } },
  needsApproval: true,
  run: ({ euros }) => `${String(euros)} paid`,
});
const where = defineClientTool({ name: 'where', description: 'Asks the browser.', input: nothing });

/** Reads all chunks, each checked by the schema of the AI SDK. */
async function readAll(source: UIMessageSource): Promise<UIMessageChunk[]> {
  const schema = uiMessageChunkSchema();
  const chunks: UIMessageChunk[] = [];
  for await (const chunk of toUIMessageStream(source)) {
    expect(await schema.validate?.(JSON.parse(JSON.stringify(chunk)))).toMatchObject({ success: true });
    chunks.push(chunk);
  }
  return chunks;
}

/** The message that a page has at the end. */
async function toMessage(chunks: readonly UIMessageChunk[]): Promise<AgentUIMessage | undefined> {
  let last: AgentUIMessage | undefined;
  const stream = new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(structuredClone(chunk));
      controller.close();
    },
  });
  for await (const message of readUIMessageStream<AgentUIMessage>({ stream, terminateOnError: true })) last = message;
  return last;
}

const getTypes = (chunks: readonly UIMessageChunk[]): string[] => chunks.map(({ type }) => type);
const getShown = (message: AgentUIMessage | undefined): unknown =>
  message?.parts.map((part) => {
    if (part.type === 'text' || part.type === 'reasoning') return `${part.type}: ${part.text}`;
    return 'state' in part ? `${part.type}: ${part.state}` : part.type;
  });

describe('toUIMessageStream() of a run', () => {
  it('sends reasoning, words, calls with their results, and the end', async () => {
    const model = scriptedModel([{ reasoning: 'hm', text: 'One moment.', toolCalls: [{ name: 'look' }] }, { text: 'Two.' }]);
    const chunks = await readAll(createAgent({ model, tools: [look] }).start('How many?'));
    expect(getTypes(chunks)).toEqual([
      'start',
      'start-step',
      'reasoning-start',
      'reasoning-delta',
      'reasoning-end',
      'text-start',
      'text-delta',
      'text-end',
      'tool-input-available',
      'tool-output-available',
      'finish-step',
      'start-step',
      'text-start',
      'text-delta',
      'text-end',
      'finish-step',
      'data-outcome',
      'finish',
    ]);
    const message = await toMessage(chunks);
    expect(getShown(message)).toEqual([
      'step-start',
      'reasoning: hm',
      'text: One moment.',
      'tool-look: output-available',
      'step-start',
      'text: Two.',
      'data-outcome',
    ]);
    expect(message?.metadata).toMatchObject({ status: 'completed', stopReason: 'completed', usage: { unknownCalls: 2 } });
    expect(message?.metadata?.why).toContain('Completed in step 2: the model answered and called no tools.');
  });

  it('shows calls that failed, and calls of tools that do not exist', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'fail' }, { name: 'fly' }] }, { text: 'Sorry.' }]);
    const message = await toMessage(await readAll(createAgent({ model, tools: [fail] }).start('Go')));
    expect(message?.parts.filter(({ type }) => type.startsWith('tool-'))).toMatchObject([
      { type: 'tool-fail', state: 'output-error', errorText: expect.stringContaining('disk full') as string },
      { type: 'tool-fly', state: 'output-error', errorText: expect.stringContaining('fly') as string },
    ]);
  });

  it('ends with an error if the run failed, and says why before', async () => {
    const model = scriptedModel([{ text: 'Half', error: { type: 'model', code: 'unauthorized', message: 'bad key', retryable: false } }]);
    const chunks = await readAll(createAgent({ model, tools: [look] }).start('Go'));
    expect(getTypes(chunks).slice(-3)).toEqual(['data-outcome', 'message-metadata', 'error']);
    expect(chunks.at(-1)).toMatchObject({ errorText: expect.stringContaining('bad key') as string });
  });

  it('asks for approvals and hands out calls of the page', async () => {
    const model = scriptedModel([{ toolCalls: [{ name: 'pay', args: { euros: 5 } }, { name: 'where' }] }]);
    const message = await toMessage(await readAll(createAgent({ model, tools: [pay, where] }).start('Pay')));
    expect(message?.parts.filter(({ type }) => type.startsWith('tool-'))).toMatchObject([
      { type: 'tool-pay', state: 'approval-requested', input: { euros: 5 } },
      { type: 'tool-where', state: 'input-available' },
    ]);
    expect(message?.metadata).toMatchObject({
      status: 'waiting',
      waitingFor: [
        { type: 'approval', toolName: 'pay' },
        { type: 'client-tool', toolName: 'where' },
      ],
    });
  });

  it('takes back the words of a model that failed before another one answered', async () => {
    const failing = scriptedModel([{ chunks: ['Wrong '], error: { type: 'model', code: 'down', message: 'down', retryable: true } }], {
      modelId: 'one',
    });
    const agent = createAgent({ model: failing, fallback: [scriptedModel(['Right.'], { modelId: 'two' })] });
    const chunks = await readAll(agent.start('Go'));
    expect(getTypes(chunks)).toContain('reset-step');
    expect(getShown(await toMessage(chunks))).toEqual(['step-start', 'text: Right.', 'data-outcome']);
  });

  it('sends no secrets', async () => {
    const key = `sk-${'a1B2c3D4'.repeat(6)}`;
    const leak = defineTool({ name: 'leak', description: 'Leaks.', input: nothing, run: () => ({ apiKey: key }) });
    const model = scriptedModel([
      { text: 'Hm.', toolCalls: [{ name: 'leak' }] },
      { chunks: [key.slice(0, 5), key.slice(5)], text: ' is it.' },
    ]);
    const chunks = await readAll(createAgent({ model, tools: [leak] }).start('Go'));
    expect(JSON.stringify(await toMessage(chunks))).not.toContain(key);
  });

  it('does not show the JSON that a model writes for a call as its words', async () => {
    const chunks = await readAll(createAgent({ model: scriptedModel(['{"done":true}']) }).start('Go'));
    expect(getShown(await toMessage(chunks))).toEqual(['step-start', 'text: {"done":true}', 'data-outcome']);
    const model = scriptedModel([{ chunks: ['{"tool":', '"look"}'], toolCalls: [{ name: 'look' }] }, 'Done.']);
    const called = await toMessage(await readAll(createAgent({ model, tools: [look] }).start('Go')));
    expect(getShown(called)).toEqual(['step-start', 'tool-look: output-available', 'step-start', 'text: Done.', 'data-outcome']);
  });
});

describe('toUIMessageStream() of stored events', () => {
  const by = { id: 'ann', kind: 'user' };

  it('gives the words before the calls, and never hands out a call that has ended', async () => {
    const model = scriptedModel([{ text: 'One moment.', toolCalls: [{ name: 'look' }] }, { text: 'Two.' }]);
    const runtime = createSessionRuntime({ agents: [createAgent({ model, tools: [look] })], store: createMemoryStore() });
    const { id } = await runtime.create({}, { by });
    await runtime.send(id, 'How many?', { by });
    const chunks = await readAll(runtime.events(id));
    expect(getTypes(chunks)).not.toContain('tool-input-available');
    expect(getShown(await toMessage(chunks))).toEqual([
      'step-start',
      'text: One moment.',
      'tool-look: output-available',
      'step-start',
      'text: Two.',
      'data-outcome',
    ]);
    await runtime.drain();
  });
});
