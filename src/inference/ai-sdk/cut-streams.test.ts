// Streams that end too early, through the real provider packages: no answer that was cut off counts as a whole one.
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Message } from '../../messages/index.ts';
import type { Interaction, WireApi } from '../../testing/node/index.ts';
import { parseEvents, readRecording, detectWireApi } from '../../testing/node/index.ts';
import { findRecordings, listRecordings } from '../../../tests/support/recordings/find-recordings.ts';
import { toFields } from '../../../tests/support/recordings/loose.ts';
import type { ProviderPackage, StreamBody } from '../../../tests/support/recordings/provider-models.ts';
import { createProviderModel } from '../../../tests/support/recordings/provider-models.ts';
import {
  amazonBegin,
  amazonStop,
  amazonUsage,
  chatBegin,
  chatChunk,
  chatUsage,
  toAmazonStream,
  toStream,
  xaiBegin,
  toXaiEnd,
  xaiUsage,
} from '../../../tests/support/recordings/staged-streams.ts';
import { getWire } from '../../../tests/support/recordings/wires.ts';
import { pickRuns } from '../../../tests/support/test-scale.ts';
import type { ModelOutcome } from '../index.ts';

function ask(name: ProviderPackage, body: StreamBody): Promise<ModelOutcome> {
  return createProviderModel(name, body).stream({ messages: [Message.user('Go on.', { id: 'message-1' })] }, () => undefined);
}

const getText = (outcome: ModelOutcome): string =>
  (outcome.ok ? outcome.response : outcome.partial).parts.map((part) => (part.type === 'text' ? part.text : '')).join('');

/** Every place in a stream before its last event; some of them, evenly spread, if they are too many for a quick test. */
function listCuts(eventCount: number): readonly number[] {
  const most = pickRuns({ quick: 40, slow: Number.POSITIVE_INFINITY });
  const stride = Math.max(1, Math.ceil(eventCount / most));
  const isLate = (place: number): boolean => place >= eventCount - 5;
  return Array.from({ length: eventCount }, (_, place) => place).filter((place) => place % stride === 0 || isLate(place));
}

const byApi: Readonly<Record<Exclude<WireApi, 'openai-chat'>, ProviderPackage>> = {
  'openai-responses': 'openaiResponses',
  'openai-completion': 'openaiCompletion',
  anthropic: 'anthropic',
  google: 'google',
};
const chatPackages: readonly ProviderPackage[] = ['openaiChat', 'groq', 'mistral', 'deepseek', 'compatible'];

const listPackages = (api: WireApi): readonly ProviderPackage[] => (api === 'openai-chat' ? chatPackages : [byApi[api]]);

async function checkCuts({ response: { body } }: Interaction, api: WireApi): Promise<number> {
  if (typeof body !== 'string') return 0;
  const events = body.split(/(?<=\n\r?\n)/);
  const wire = getWire(api);
  let checked = 0;
  for (const name of listPackages(api)) {
    // Not every package can read every recording: they differ in what they take for an error.
    const whole = await ask(name, body);
    for (const place of listCuts(events.length)) {
      const cut = events.slice(0, place).join('');
      if (!wire.readAnswer(parseEvents(cut).map(toFields)).isBroken) continue;
      const outcome = await ask(name, cut);
      const where = `${name}, cut after ${place} of ${events.length} events`;
      expect(outcome.ok, where).toBe(false);
      if (whole.ok && !outcome.ok) {
        expect(outcome.failure, where).toMatchObject({ type: 'model', retryable: true });
        expect(getText(whole).startsWith(getText(outcome)), where).toBe(true);
      }
      checked += 1;
    }
  }
  return checked;
}

const root = join(import.meta.dirname, '../../..');
const recordings = findRecordings(root);

if (recordings.found) {
  const files = [...listRecordings(recordings.folder, 'single'), ...listRecordings(recordings.folder, 'loops')];
  const streamed = files.flatMap((file) => {
    const recording = readRecording(file);
    const interactions = recording.interactions.filter(({ response: { body, status } }) => typeof body === 'string' && status < 400);
    return interactions.map((interaction, index) => ({ name: `${basename(file)}#${index}`, interaction, api: detectWireApi(recording) }));
  });
  describe('a recorded stream that is cut off is never an answer', () => {
    it.each(streamed)('$name', async ({ interaction, api }) => {
      expect(await checkCuts(interaction, api)).toBeGreaterThan(0);
    });
  });
} else {
  describe('a recorded stream that is cut off', () => {
    it.skip(`is not here: ${recordings.reason}`, () => {});
  });
}

interface Staged {
  readonly name: ProviderPackage;
  /** Events that hold the whole text and the whole call, without an end. */
  readonly count: number;
  readonly cutAt: (place: number) => StreamBody;
}

const staged: readonly Staged[] = [
  { name: 'xai', count: xaiBegin.length, cutAt: (place) => toStream(xaiBegin.slice(0, place)) },
  { name: 'deepseek', count: chatBegin.length, cutAt: (place) => toStream(chatBegin.slice(0, place)) },
  { name: 'bedrock', count: amazonBegin.length, cutAt: (place) => toAmazonStream(amazonBegin.slice(0, place)) },
];

describe('a stream without a finish reason and without usage', () => {
  it.each(staged)('of $name broke off, wherever it was cut', async ({ name, count, cutAt }) => {
    for (let place = 0; place <= count; place += 1) {
      const outcome = await ask(name, cutAt(place));
      expect(outcome, `${name}, cut after ${place} events`).toMatchObject({
        ok: false,
        failure: { type: 'model', code: 'stream-interrupted', retryable: true },
        partial: { usage: { unknownCalls: 1 } },
      });
    }
    expect(getText(await ask(name, cutAt(count)))).toBe('Hello.');
  });
});

describe('a stream that ends as it should', () => {
  const usage = { input: 9, output: 5, total: 14 };
  it.each<[string, ProviderPackage, StreamBody, object]>([
    ['xai: status and usage', 'xai', toStream([...xaiBegin, toXaiEnd({ status: 'completed', usage: xaiUsage })]), { usage }],
    ['xai: status alone', 'xai', toStream([...xaiBegin, toXaiEnd({ status: 'completed' })]), { rawFinishReason: 'completed' }],
    ['bedrock: reason and usage', 'bedrock', toAmazonStream([...amazonBegin, amazonStop, amazonUsage]), { usage }],
    ['bedrock: reason alone', 'bedrock', toAmazonStream([...amazonBegin, amazonStop]), { finishReason: 'tool_calls' }],
    ['bedrock: usage alone', 'bedrock', toAmazonStream([...amazonBegin, amazonUsage]), { usage }],
    ['deepseek: usage alone', 'deepseek', toStream([...chatBegin, chatUsage, '[DONE]']), { usage }],
  ])('is a whole answer: %s', async (_, name, body, expected) => {
    const outcome = await ask(name, body);
    expect(outcome).toMatchObject({ ok: true, response: expected });
    expect(outcome.ok && outcome.response.parts.map(({ type }) => type)).toEqual(['text', 'tool-call']);
  });

  it.each<ProviderPackage>(chatPackages)('is a whole answer if only its reason came, but no usage: %s', async (name) => {
    const end = { ...chatChunk({}), choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
    expect(await ask(name, toStream([...chatBegin, end, '[DONE]']))).toMatchObject({ ok: true, response: { finishReason: 'tool_calls' } });
  });
});

// Usage does not outweigh the package's own word: Google reports usage with every piece of a stream.
describe('a stream that its package calls interrupted', () => {
  it.each<ProviderPackage>(['openaiChat', 'groq', 'mistral', 'compatible'])('broke off, even if usage came: %s', async (name) => {
    expect(await ask(name, toStream([...chatBegin, chatUsage, '[DONE]']))).toMatchObject({
      ok: false,
      failure: { type: 'model', retryable: true },
    });
  });
});
