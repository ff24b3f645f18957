// Provider packages as they are, over a network that fails.
import { createOpenAI } from '@ai-sdk/openai';
import { describe, expect, test } from 'vitest';
import { aiSdk } from '../../src/entry/ai-sdk.ts';
import type { Model } from '../../src/entry/index.ts';
import { createAgent } from '../../src/entry/index.ts';
import { createMemoryStore, createSessionRuntime } from '../../src/entry/sessions.ts';
import { createFakeClock } from '../../src/entry/testing.ts';

type Reply = () => Response;

const answer: Reply = () =>
  Response.json({
    id: 'c1',
    object: 'chat.completion',
    created: 0,
    model: 'gpt-4o',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Done.' } }],
    usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
  });
const unavailable: Reply = () => Response.json({ error: { message: 'no capacity' } }, { status: 503 });
const replyRateLimited: Reply = () => Response.json({ error: { message: 'slow down' } }, { status: 429 });
const refuseConnection: Reply = () => {
  throw new TypeError('fetch failed', { cause: Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }) });
};

/** A model whose network gives these replies, the last one again and again. */
function createModel(modelId: string, replies: readonly Reply[]): { readonly model: Model; readonly asked: () => number } {
  let asked = 0;
  const fetch = async (): Promise<Response> => {
    asked += 1;
    return (replies[asked - 1] ?? replies.at(-1) ?? answer)();
  };
  return { model: aiSdk(createOpenAI({ apiKey: 'none', fetch }).chat(modelId)), asked: () => asked };
}

describe.each([
  ['503', unavailable],
  ['429', replyRateLimited],
  ['a refused connection', refuseConnection],
])('a provider that answers with %s', (_, reply) => {
  test('is outlasted if it is back within ten seconds', async () => {
    const clock = createFakeClock();
    const { model, asked } = createModel('gpt-4o', [reply, reply, reply, answer]);
    const agent = createAgent({ model, streaming: false, ports: { clock, random: () => 0.5 } });
    agent.onEvent('RetryScheduled', ({ delayMs }) => void clock.advance(delayMs));
    expect(await agent.start('Go.').result).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(asked()).toBe(4);
  });

  test('is asked once if a fallback answers', async () => {
    const clock = createFakeClock();
    const [down, up] = [createModel('gpt-4o', [reply]), createModel('gpt-4o-mini', [answer])];
    const agent = createAgent({ model: down.model, fallback: [up.model], streaming: false, ports: { clock } });
    const first = await agent.start('One.').result;
    const second = await agent.start(first.state.withUserMessage('Two.')).result;
    expect([first.text, second.text, down.asked(), up.asked()]).toStrictEqual(['Done.', 'Done.', 1, 2]);
  });

  test('is waited for by a session that parks', async () => {
    const clock = createFakeClock();
    const { model } = createModel('gpt-4o', [reply]);
    const agent = createAgent({ model, streaming: false, ports: { clock, random: () => 0.5 } });
    // Time passes while it retries, and stands still once it waits for the provider.
    agent.onEvent('RetryScheduled', ({ delayMs }) => void (delayMs < 10_000 && clock.advance(delayMs)));
    const runtime = createSessionRuntime({ agents: [agent], store: createMemoryStore(), clock, onOutage: 'park' });
    const by = { id: 'ann', kind: 'user' };
    const { id } = await runtime.create({}, { by });
    expect(await runtime.send(id, 'Go.', { by })).toMatchObject({ status: 'waiting', waitingFor: [{ type: 'provider' }] });
    await runtime.drain();
  });
});
