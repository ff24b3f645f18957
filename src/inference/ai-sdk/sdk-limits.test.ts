// Each limit of a provider package, shown to exist: asked to say it, the real package says something else.
import { expect, it } from 'vitest';
import type { Interaction, WireApi } from '../../testing/node/index.ts';
import { driveRecording } from '../../../tests/support/recordings/drive-recording.ts';
import { sdkLimits } from '../../../tests/support/recordings/sdk-limits.ts';
import { aiSdk } from './index.ts';

const googleTurn = (functionResponse: object): Interaction => ({
  request: {
    path: '/v1beta/models/gemini-3-flash-preview:generateContent',
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'Go' }] },
        { role: 'model', parts: [{ functionCall: { id: '1', name: 'look', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { id: '1', name: 'look', ...functionResponse } }] },
      ],
    },
  },
  response: {
    status: 200,
    headers: {},
    body: { candidates: [{ content: { role: 'model', parts: [{ text: 'Seen.' }] }, finishReason: 'STOP' }] },
  },
});

const anthropicTurn = (content: readonly object[]): Interaction => ({
  request: {
    path: '/v1/messages',
    body: {
      model: 'claude-sonnet-4-5',
      messages: [
        { role: 'user', content: 'Go' },
        { role: 'assistant', content: [{ type: 'tool_use', id: '1', name: 'look', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: '1', content }] },
      ],
    },
  },
  response: {
    status: 200,
    headers: {},
    body: {
      type: 'message',
      role: 'assistant',
      id: 'm',
      model: 'claude',
      content: [{ type: 'text', text: 'Seen.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  },
});

const examples: readonly (readonly [WireApi, Interaction])[] = [
  ['google', googleTurn({ response: {}, parts: [{ fileData: { fileUri: 'https://x.org/a.png', mimeType: 'image/png' } }] })],
  ['google', googleTurn({ response: { output: { $ref: '#/x' } } })],
  ['anthropic', anthropicTurn([{ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'Some text.' } }])],
];

it.each(sdkLimits.map((limit, index) => [limit.reason, limit, examples[index]] as const))('%s', async (_, limit, example) => {
  const [api, interaction] = example ?? [];
  expect(api, 'each limit has an example').toBe(limit.api);
  if (interaction === undefined) return;
  const [call] = await driveRecording({ name: 'made-up', provider: limit.api, interactions: [interaction] }, aiSdk);
  const [recorded, sent] = [call?.recordedResults[0]?.output, call?.sentResults[0]?.output];
  if (recorded === undefined || sent === undefined) throw new Error('expected a result');
  expect(limit.applies(recorded)).toBe(true);
  expect(limit.isSentAs(sent, recorded)).toBe(true);
  expect(sent).not.toEqual(recorded);
});
