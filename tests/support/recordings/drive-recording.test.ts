// The driver itself, on conversations that are made up. Real ones are driven in inference/ai-sdk.
import { describe, expect, it } from 'vitest';
import type { Model, ModelResponse } from '../../../src/inference/index.ts';
import type { Message } from '../../../src/messages/index.ts';
import { Usage } from '../../../src/messages/index.ts';
import { driveRecording } from './drive-recording.ts';
import type { Interaction, Recording } from '../../../src/testing/node/index.ts';

const sample = (parts: ModelResponse['parts']): ModelResponse => ({ parts, usage: Usage.none() });

// Answers from a list and says what it was asked; the provider package under it is never called.
function fake(answers: readonly (ModelResponse | 'failure')[]): { readonly adapt: () => Model; readonly asked: (readonly Message[])[] } {
  const asked: (readonly Message[])[] = [];
  const model: Model = {
    provider: 'fake',
    modelId: 'fake',
    generate: async ({ messages }) => {
      const answer = answers[asked.length];
      asked.push(messages);
      if (answer === undefined || answer === 'failure')
        return { ok: false, failure: { type: 'model', code: 'x', message: 'x', retryable: false }, partial: sample([]) };
      return { ok: true, response: answer };
    },
    stream: (request) => model.generate(request),
  };
  return { adapt: () => model, asked };
}

const user = (content: string): object => ({ role: 'user', content });
const call = (id: string): object => ({
  role: 'assistant',
  tool_calls: [{ id, type: 'function', function: { name: 'look', arguments: '{}' } }],
});
const result = (id: string, content: string): object => ({ role: 'tool', tool_call_id: id, content });
const ask = (...messages: readonly object[]): Interaction => ({
  request: { path: '/chat/completions', body: { messages } },
  response: { status: 200, headers: {}, body: { object: 'chat.completion', choices: [] } },
});
const recording = (...interactions: readonly Interaction[]): Recording => ({ name: 'made-up', provider: 'openai', interactions });
const listTexts = (messages: readonly Message[] | undefined): readonly string[] =>
  (messages ?? []).map(({ role, text, toolResults, toolCalls }) =>
    [
      role,
      text,
      ...toolCalls.map(({ id }) => id),
      ...toolResults.map(({ toolCallId, output }) => `${toolCallId}=${output.type === 'text' ? output.value : ''}`),
    ]
      .join(' ')
      .trim(),
  );

describe('driveRecording', () => {
  it('answers our calls with the recorded results, under our ids where the provider gives none', async () => {
    const { adapt, asked } = fake([
      sample([{ type: 'tool-call', toolCallId: 'ours', toolName: 'look', args: {} }]),
      sample([{ type: 'text', text: 'Done.' }]),
    ]);
    const calls = await driveRecording(recording(ask(user('Go')), ask(user('Go'), call('theirs'), result('theirs', 'seen'))), adapt);
    expect(listTexts(asked[1])).toEqual(['user Go', 'assistant  ours', 'tool  ours=seen']);
    expect(calls[1]?.recordedResults).toMatchObject([{ toolCallId: 'ours', output: { type: 'text', value: 'seen' } }]);
  });

  it('takes user text for a new turn of the same conversation, or for another one', async () => {
    const { adapt, asked } = fake([
      sample([{ type: 'text', text: 'Our words.' }]),
      sample([{ type: 'text', text: 'More.' }]),
      sample([{ type: 'text', text: 'Else.' }]),
    ]);
    const calls = await driveRecording(
      recording(ask(user('Go')), ask(user('Go'), { role: 'assistant', content: 'Their words.' }, user('And?')), ask(user('Other'))),
      adapt,
    );
    expect(listTexts(asked[1])).toEqual(['user Go', 'assistant Our words.', 'user And?']);
    expect(listTexts(asked[2])).toEqual(['user Other']);
    expect(calls.map(({ restarted }) => restarted)).toEqual([false, false, true]);
  });

  it('goes on from what was recorded after a failure', async () => {
    const { adapt, asked } = fake(['failure', sample([{ type: 'text', text: 'Done.' }])]);
    const calls = await driveRecording(recording(ask(user('Go')), ask(user('Go'), call('a'), result('a', 'seen'))), adapt);
    expect(listTexts(asked[1])).toEqual(['user Go', 'assistant  a', 'tool  a=seen']);
    expect(calls[1]?.restarted).toBe(false);
  });

  it('says where the recorded client answers other calls than ours', async () => {
    const { adapt, asked } = fake([
      sample([{ type: 'tool-call', toolCallId: 'ours', toolName: 'listen', args: {} }]),
      sample([{ type: 'text', text: 'Done.' }]),
    ]);
    const calls = await driveRecording(recording(ask(user('Go')), ask(user('Go'), call('a'), result('a', 'seen'))), adapt);
    expect(listTexts(asked[1])).toEqual(['user Go', 'assistant  a', 'tool  a=seen']);
    expect(calls.map(({ restarted }) => restarted)).toEqual([false, true]);
  });
});
