// What real provider packages send for the step that sums up after a limit.
import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogle } from '@ai-sdk/google';
import { createMistral } from '@ai-sdk/mistral';
import { createOpenAI } from '@ai-sdk/openai';
import { describe, expect, test } from 'vitest';
import { AgentState, createAgent, defineTool, Message } from '../src/entry/index.ts';
import type { LanguageModelLike } from '../src/inference/ai-sdk/index.ts';
import { aiSdk } from '../src/inference/ai-sdk/index.ts';

type Body = Readonly<Record<string, unknown>>;
type Fetch = typeof globalThis.fetch;

interface Call {
  readonly id: string;
  readonly name: string;
}

/** A provider: how its package is set up, and how its API answers. */
interface Provider {
  readonly create: (fetch: Fetch) => LanguageModelLike;
  readonly answerCall: (call: Call) => object;
  readonly answerText: (text: string) => object;
  readonly listMessages: (body: Body) => unknown;
  /** Everything of a request that a cached prompt depends on, beside the messages. */
  readonly listTools: (body: Body) => unknown;
}

const openAiChat = (message: object, finish_reason: string): object => ({
  ...{ id: 'x', created: 1, model: 'm', object: 'chat.completion' },
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const chatApi = {
  answerCall: ({ id, name }: Call) =>
    openAiChat({ content: null, tool_calls: [{ id, type: 'function', function: { name, arguments: '{"at":"it"}' } }] }, 'tool_calls'),
  answerText: (content: string) => openAiChat({ content }, 'stop'),
  listMessages: (body: Body) => body['messages'],
  listTools: ({ tools, tool_choice }: Body) => ({ tools, tool_choice }),
};
const openAiResponse = (item: object): object => ({
  ...{ id: 'x', created_at: 1, model: 'm', object: 'response', status: 'completed' },
  output: [item],
  usage: { input_tokens: 1, output_tokens: 1 },
});
const anthropicAnswer = (content: object, stop_reason: string): object => ({
  ...{ type: 'message', id: 'x', model: 'm', role: 'assistant', stop_sequence: null },
  content: [content],
  stop_reason,
  usage: { input_tokens: 1, output_tokens: 1 },
});
const googleAnswer = (part: object): object => ({
  candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
});
const bedrockAnswer = (content: object, stopReason: string): object => ({
  output: { message: { role: 'assistant', content: [content] } },
  stopReason,
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  metrics: { latencyMs: 1 },
});

const providers: Readonly<Record<string, Provider>> = {
  'OpenAI, responses': {
    create: (fetch) => createOpenAI({ apiKey: 'x', fetch }).responses('gpt-5'),
    answerCall: ({ id, name }) =>
      openAiResponse({ type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: '{"at":"it"}', status: 'completed' }),
    answerText: (text) =>
      openAiResponse({ type: 'message', id: 'm1', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] }),
    listMessages: (body) => body['input'],
    listTools: ({ tools, tool_choice }) => ({ tools, tool_choice }),
  },
  'OpenAI, chat': { create: (fetch) => createOpenAI({ apiKey: 'x', fetch }).chat('gpt-4.1'), ...chatApi },
  Mistral: { create: (fetch) => createMistral({ apiKey: 'x', fetch })('mistral-large-latest'), ...chatApi },
  Anthropic: {
    create: (fetch) => createAnthropic({ apiKey: 'x', fetch })('claude-sonnet-4-5'),
    answerCall: ({ id, name }) => anthropicAnswer({ type: 'tool_use', id, name, input: { at: 'it' } }, 'tool_use'),
    answerText: (text) => anthropicAnswer({ type: 'text', text }, 'end_turn'),
    listMessages: (body) => body['messages'],
    listTools: ({ tools, tool_choice, system }) => ({ tools, tool_choice, system }),
  },
  Google: {
    create: (fetch) => createGoogle({ apiKey: 'x', fetch })('gemini-2.5-pro'),
    answerCall: ({ name }) => googleAnswer({ functionCall: { name, args: { at: 'it' } } }),
    answerText: (text) => googleAnswer({ text }),
    listMessages: (body) => body['contents'],
    listTools: ({ tools, toolConfig, systemInstruction }) => ({ tools, toolConfig, systemInstruction }),
  },
  Bedrock: {
    create: (fetch) => createAmazonBedrock({ region: 'us-east-1', apiKey: 'x', fetch })('amazon.nova-pro-v1:0'),
    answerCall: ({ id, name }) => bedrockAnswer({ toolUse: { toolUseId: id, name, input: { at: 'it' } } }, 'tool_use'),
    answerText: (text) => bedrockAnswer({ text }, 'end_turn'),
    listMessages: (body) => body['messages'],
    listTools: ({ toolConfig, system }) => ({ toolConfig, system }),
  },
};

/** Answers with one entry after the other, and keeps the bodies of the requests. */
function answerWith(answers: readonly object[]): { readonly fetch: Fetch; readonly bodies: readonly Body[] } {
  const bodies: Body[] = [];
  return {
    bodies,
    fetch: (_, init) => {
      if (typeof init?.body !== 'string') throw new TypeError('The request has no body.');
      bodies.push(JSON.parse(init.body) as Body);
      return Promise.resolve(Response.json(answers[bodies.length - 1]));
    },
  };
}

const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: { type: 'object', properties: { at: { type: 'string' } } } as const,
  effect: 'pure',
  run: () => 'a red door',
});

function setUp({ create }: Provider, answers: readonly object[], steps: number) {
  const { fetch, bodies } = answerWith(answers);
  const options = { tools: { look }, instructions: 'Be brief.', streaming: false } as const;
  return { bodies, agent: createAgent({ ...options, model: aiSdk(create(fetch)), limits: { steps, onLimit: 'finalize' } }) };
}

const eachProvider = Object.entries(providers);
const [first, second, third] = ['callAAAA1', 'callBBBB2', 'callCCCC3'].map((id) => ({ id, name: 'look' }));

describe.each(eachProvider)('%s', (_, provider) => {
  const { answerCall, answerText, listMessages, listTools } = provider;
  const countResults = (body: Body | undefined): number => JSON.stringify(body).split('a red door').length - 1;

  test('is sent the calls and their results when it has to sum up, after the same beginning as before', async () => {
    const { agent, bodies } = setUp(provider, [answerCall(first!), answerCall(second!), answerText('A red door.')], 2);
    const end = await agent.run(AgentState.empty().withUserMessage('Look around.'));
    expect([end.status, end.stopReason, end.text]).toStrictEqual(['stopped', 'steps_limit', 'A red door.']);
    const [before, last] = bodies.slice(1).map(listMessages) as [readonly unknown[], readonly unknown[]];
    expect(last.slice(0, before.length)).toStrictEqual(before);
    expect(listTools(bodies[2]!)).toStrictEqual(listTools(bodies[1]!));
    expect(JSON.stringify(listTools(bodies[2]!))).toContain('Looks.');
    expect([countResults(bodies[1]), countResults(bodies[2])]).toStrictEqual([1, 2]);
    expect(JSON.stringify(last).split('"look"').length - 1).toBeGreaterThanOrEqual(2);
  });

  test('is asked again in words, without tools, if it only called tools', async () => {
    const { agent, bodies } = setUp(provider, [answerCall(first!), answerCall(third!), answerText('A red door.')], 1);
    const end = await agent.run(AgentState.empty().withUserMessage('Look around.'));
    expect([end.status, end.stopReason, end.text]).toStrictEqual(['stopped', 'steps_limit', 'A red door.']);
    expect(end.messages.map(({ role }) => role)).toStrictEqual(['user', 'assistant', 'tool', 'assistant', 'tool', 'assistant']);
    expect(JSON.stringify(listTools(bodies[2]!))).not.toContain('Looks.');
    expect(countResults(bodies[2])).toBe(1);
    expect(JSON.stringify(bodies[2])).toContain('[Called look with');
  });

  test('is sent names and ids that it accepts, whatever the model made up', async () => {
    const { agent, bodies } = setUp(provider, [answerCall({ id: 'functions.my tool:0', name: 'my tool' }), answerText('Sorry.')], 9);
    const end = await agent.run(AgentState.empty().withUserMessage('Look around.'));
    expect([end.status, end.text]).toStrictEqual(['completed', 'Sorry.']);
    expect(end.messages.at(1)?.toolCalls[0]?.name).toBe('my tool');
    const sent = JSON.stringify(listMessages(bodies[1]!));
    expect(sent).toContain('"my_tool"');
    expect(sent).not.toContain('"my tool"');
    expect(sent).not.toContain('functions.my tool:0');
  });
});

test('a conversation moved to Mistral has ids of nine letters and digits', async () => {
  const { fetch, bodies } = answerWith([chatApi.answerText('Yes.')]);
  const messages = [
    Message.user('Go.'),
    Message.assistant([{ type: 'tool-call', toolCallId: 'toolu_01AbCdEfGhIj', toolName: 'look', args: {} }]),
    Message.tool({ toolCallId: 'toolu_01AbCdEfGhIj', toolName: 'look', output: { type: 'text', value: 'x' } }),
  ];
  await aiSdk(createMistral({ apiKey: 'x', fetch })('mistral-large-latest')).generate({ messages });
  expect(bodies[0]).toMatchObject({
    messages: [
      {},
      { tool_calls: [{ id: expect.stringMatching(/^[a-z0-9]{9}$/) as string }] },
      { tool_call_id: expect.stringMatching(/^[a-z0-9]{9}$/) as string },
    ],
  });
});
