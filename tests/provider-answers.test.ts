// Answers of real provider packages as they enter a step.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ErrorPolicy } from '../src/errors/index.ts';
import { aiSdk } from '../src/inference/ai-sdk/index.ts';
import { createCountingIds, createFakeClock } from '../src/lib/index.ts';
import { ToolUse, ToolUseState } from '../src/tool-use/index.ts';
import { defineTool } from '../src/tools/index.ts';
import type { ProviderPackage, StreamBody } from './support/recordings/provider-models.ts';
import { createProviderModel } from './support/recordings/provider-models.ts';
import { amazonBegin, chatBegin, toAmazonStream, toStream, xaiBegin } from './support/recordings/staged-streams.ts';

describe('the calls of an answer that broke off', () => {
  it.each<[ProviderPackage, StreamBody]>([
    ['deepseek', toStream(chatBegin)],
    ['xai', toStream(xaiBegin)],
    ['bedrock', toAmazonStream(amazonBegin)],
  ])('are not run: %s', async (name, body) => {
    const paid: unknown[] = [];
    const pay = defineTool({ name: 'pay', description: 'Pays.', input: z.object({ to: z.string() }), run: (args) => paid.push(args) });
    const ports = { clock: createFakeClock(), ids: createCountingIds() };
    const model = createProviderModel(name, body);
    const end = await new ToolUse({ model, tools: [pay], ports, errors: ErrorPolicy.stopOnAnyError() }).run(
      ToolUseState.empty(ports).withUserMessage('Pay Ann.', ports),
    );
    expect([end.status, paid]).toEqual(['failed', []]);
    expect(end.steps[0]).toMatchObject({ toolCalls: [], errors: [{ type: 'model', code: 'stream-interrupted', retryable: true }] });
  });
});

describe('a call that is written into the text as well', () => {
  const chunk = (delta: object, finish: string | null = null): object => ({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const markup = '<tool_call>\n{"name":"look","arguments":{"at":"it"}}\n</tool_call>';
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":"it"}' } };

  it.each<[string, string, string]>([
    ['alone', markup, ''],
    ['behind words', `Let me look.\n${markup}`, 'Let me look.\n'],
  ])('does not reach readers: %s', async (_, text, said) => {
    const calls = toStream([
      ...Array.from(text, (content) => chunk({ content })),
      chunk({ tool_calls: [call] }),
      chunk({}, 'tool_calls'),
      '[DONE]',
    ]);
    const answer = toStream([chunk({ content: 'Seen.' }), chunk({}, 'stop'), '[DONE]']);
    const look = defineTool({ name: 'look', description: 'Looks.', input: z.object({ at: z.string() }), run: () => 'a cat' });
    const ports = { clock: createFakeClock(), ids: createCountingIds() };
    const emitted: string[] = [];
    const end = await new ToolUse({ model: createProviderModel('compatible', calls, answer), tools: [look], ports }).run(
      ToolUseState.empty(ports).withUserMessage('Look at it.', ports),
      { onEvent: (event) => event.type === 'TextDelta' && emitted.push(event.text) },
    );
    expect([end.status, emitted.join('')]).toEqual(['completed', `${said}Seen.`]);
    expect(end.messages.map((message) => message.text)).toEqual(['Look at it.', said, '', 'Seen.']);
  });
});

interface Exchange {
  readonly fetch: typeof globalThis.fetch;
  /** The requests so far. */
  readonly sent: Readonly<Record<string, unknown>>[];
}

/** Answers each request with the next body: JSON, or a stream if that was asked for. */
function createExchange(...answers: readonly { readonly whole: object; readonly events: readonly object[] }[]): Exchange {
  const sent: Record<string, unknown>[] = [];
  return {
    sent,
    fetch: (_, init) => {
      const request = JSON.parse(typeof init?.body === 'string' ? init.body : '{}') as Record<string, unknown>;
      const answer = answers[Math.min(sent.push(request), answers.length) - 1]!;
      const isStream = request['stream'] === true;
      const headers = { 'content-type': isStream ? 'text/event-stream' : 'application/json' };
      return Promise.resolve(new Response(isStream ? toStream(answer.events) : JSON.stringify(answer.whole), { headers }));
    },
  };
}

function toResponse(id: string, ...output: readonly { readonly type: string }[]): { whole: object; events: readonly object[] } {
  const base = { id, object: 'response', created_at: 1, model: 'gpt', output: [], incomplete_details: null };
  const done = { ...base, status: 'completed', output, usage: { input_tokens: 9, output_tokens: 5 } };
  return {
    whole: done,
    events: [
      { type: 'response.created', response: base },
      ...output.flatMap((item, index) => [
        { type: 'response.output_item.added', output_index: index, item: { ...item, status: 'in_progress' } },
        { type: 'response.output_item.done', output_index: index, item },
      ]),
      { type: 'response.completed', response: done },
    ],
  };
}

describe('a shell call of OpenAI whose tool was not offered', () => {
  const shellCall = { type: 'shell_call', id: 'sh_1', call_id: 'call_1', status: 'completed', action: { commands: ['ls'] } };
  const localCall = {
    type: 'local_shell_call',
    id: 'lsh_1',
    call_id: 'call_1',
    status: 'completed',
    action: { type: 'exec', command: ['ls'], env: {} },
  };
  const output = [{ stdout: 'a.txt', stderr: '', outcome: { type: 'exit', exit_code: 0 } }];
  const shellOutput = { type: 'shell_call_output', id: 'sho_1', call_id: 'call_1', status: 'completed', output };

  it.each([
    ['with its output in the same answer, whole', [shellCall, shellOutput], false, 'a.txt'],
    ['with its output in the same answer, streamed', [shellCall, shellOutput], true, 'a.txt'],
    ['alone, whole', [shellCall], false, 'There is no tool named'],
    ['alone, streamed', [shellCall], true, 'There is no tool named'],
    ['for a local shell, streamed', [localCall], true, 'There is no tool named'],
  ])('is in the history together with its result: %s', async (_, items, streaming, expected) => {
    const { fetch, sent } = createExchange(toResponse('resp_1', ...items), toResponse('resp_2', { type: 'reasoning' }));
    const model = aiSdk(createOpenAI({ apiKey: 'none', baseURL: 'http://provider.test', fetch }).responses('gpt'));
    const ports = { clock: createFakeClock(), ids: createCountingIds() };
    const agent = new ToolUse({ model, streaming, ports, errors: ErrorPolicy.ignoreToolErrors() });
    const first = await agent.nextStep(ToolUseState.empty(ports).withUserMessage('List the files.', ports));
    expect(first.messages.toArray().map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
    await agent.nextStep(first.status === 'completed' ? first.withUserMessage('And now?', ports) : first);
    const input = sent.at(-1)!['input'] as readonly Readonly<Record<string, unknown>>[];
    expect(input.filter(({ call_id: id }) => id === 'call_1').map(({ type }) => type)).toEqual(['function_call', 'function_call_output']);
    expect(JSON.stringify(input.find(({ type }) => type === 'function_call_output'))).toContain(expected);
    expect(input.some(({ type }) => type === 'item_reference')).toBe(false);
  });
});

describe("Anthropic's summary of the conversation so far", () => {
  const summary = 'The user asked for names, and got them.';
  const usage = { input_tokens: 9, output_tokens: 5 };
  const base = { id: 'msg_1', type: 'message', role: 'assistant', model: 'claude', content: [], stop_reason: null, usage };

  const toMessage = (block: Readonly<Record<string, unknown>>): { whole: object; events: readonly object[] } => ({
    whole: {
      ...base,
      content: [
        { ...block, content: summary },
        { type: 'text', text: 'Ann.' },
      ],
      stop_reason: 'end_turn',
    },
    events: [
      { type: 'message_start', message: base },
      { type: 'content_block_start', index: 0, content_block: { ...block, content: block['signature'] === undefined ? null : summary } },
      ...(block['signature'] === undefined
        ? [{ type: 'content_block_delta', index: 0, delta: { type: 'compaction_delta', content: summary } }]
        : []),
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Ann.' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
      { type: 'message_stop' },
    ],
  });

  it.each([
    ['whole', false, {}],
    ['streamed', true, {}],
    ['whole and signed', false, { signature: 'signed' }],
    ['streamed and signed', true, { signature: 'signed' }],
  ])('is not shown, and goes back as it came: %s', async (_, streaming, signature) => {
    const { fetch, sent } = createExchange(toMessage({ type: 'compaction', ...signature }));
    const model = aiSdk(createAnthropic({ apiKey: 'none', baseURL: 'http://provider.test', fetch })('claude'));
    const ports = { clock: createFakeClock(), ids: createCountingIds() };
    const agent = new ToolUse({ model, streaming, ports });
    const pieces: string[] = [];
    const first = await agent.run(ToolUseState.empty(ports).withUserMessage('A name?', ports), {
      onEvent: (event) => event.type === 'TextDelta' && pieces.push(event.text),
    });
    expect([first.status, first.text, pieces.join('')]).toEqual(['completed', 'Ann.', streaming ? 'Ann.' : '']);
    expect(first.messages.toArray().map(({ text }) => text)).toEqual(['A name?', 'Ann.']);
    const restored = ToolUseState.fromJSON(JSON.parse(JSON.stringify(first)));
    expect(restored.messages.toArray()).toEqual(first.messages.toArray());
    await agent.run(restored.withUserMessage('Another?', ports));
    const messages = sent.at(-1)!['messages'] as readonly { readonly role: string; readonly content: unknown }[];
    expect(messages[1]).toMatchObject({
      role: 'assistant',
      content: [
        { type: 'compaction', content: summary, ...signature },
        { type: 'text', text: 'Ann.' },
      ],
    });
  });

  it.each([
    ['whole', false],
    ['streamed', true],
  ])('is sent back at once if the provider pauses after it: %s', async (_, streaming) => {
    const block = { type: 'compaction', content: summary };
    const paused = {
      whole: { ...base, content: [block], stop_reason: 'compaction' },
      events: [
        { type: 'message_start', message: base },
        { type: 'content_block_start', index: 0, content_block: { type: 'compaction', content: null } },
        { type: 'content_block_delta', index: 0, delta: { type: 'compaction_delta', content: summary } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'compaction', stop_sequence: null }, usage },
        { type: 'message_stop' },
      ],
    };
    const answer = {
      whole: { ...base, content: [{ type: 'text', text: 'Ann.' }], stop_reason: 'end_turn' },
      events: [
        { type: 'message_start', message: base },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Ann.' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
        { type: 'message_stop' },
      ],
    };
    const { fetch, sent } = createExchange(paused, answer);
    const model = aiSdk(createAnthropic({ apiKey: 'none', baseURL: 'http://provider.test', fetch })('claude'));
    const ports = { clock: createFakeClock(), ids: createCountingIds() };
    const agent = new ToolUse({ model, streaming, ports, errors: ErrorPolicy.stopOnAnyError() });
    const first = await agent.run(ToolUseState.empty(ports).withUserMessage('A name?', ports));
    expect([first.status, first.text, first.stepCount]).toEqual(['completed', 'Ann.', 1]);
    expect(first.usage).toMatchObject({ input: 18, output: 10 });
    const afterPause = [{ role: 'user' }, { role: 'assistant', content: [block] }];
    expect(sent[1]!['messages']).toMatchObject(afterPause);
    const restored = ToolUseState.fromJSON(JSON.parse(JSON.stringify(first)));
    await agent.run(restored.withUserMessage('Another?', ports));
    expect(sent[2]!['messages']).toMatchObject([
      { role: 'user' },
      { role: 'assistant', content: [block, { type: 'text', text: 'Ann.' }] },
      { role: 'user' },
    ]);
  });

  it('fails as an empty answer if the provider does nothing else', async () => {
    const paused = { whole: { ...base, content: [{ type: 'compaction', content: summary }], stop_reason: 'compaction' }, events: [] };
    const { fetch, sent } = createExchange(paused);
    const model = aiSdk(createAnthropic({ apiKey: 'none', baseURL: 'http://provider.test', fetch })('claude'));
    const ports = { clock: createFakeClock(), ids: createCountingIds() };
    const agent = new ToolUse({ model, streaming: false, ports, errors: ErrorPolicy.stopOnAnyError() });
    const end = await agent.run(ToolUseState.empty(ports).withUserMessage('A name?', ports));
    expect([end.status, sent.length, end.steps[0]?.errors[0]?.code]).toEqual(['failed', 2, 'empty-response']);
  });
});
