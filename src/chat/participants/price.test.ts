import { describe, expect, test } from 'vitest';
import { createAgent } from '../../agent/index.ts';
import { priceTable } from '../../inference/index.ts';
import { createCountingIds, createFakeClock } from '../../lib/index.ts';
import { scriptedModel } from '../../testing/index.ts';
import type { ChatOptions, Participant } from '../index.ts';
import { agentParticipant, ChatState, coordinator, createChat, llmParticipant, scriptedParticipant } from '../index.ts';

const usage = { input: 1_000_000, output: 0 };
const price = priceTable({ 'scripted/script': { inputPerMillion: 2, outputPerMillion: 0 } });
const dear = priceTable({ 'scripted/script': { inputPerMillion: 9, outputPerMillion: 0 } });
const endless = { tokens: Infinity };
const model = (text = 'Yes.') => scriptedModel([{ text, usage }], { repeatLast: true });
const llm = (name: string, own: object = {}): Participant => llmParticipant({ name, model: model(), limits: endless, ...own });
const [clock, ids] = [createFakeClock(), createCountingIds()];
const begin = (): ChatState => ChatState.empty({ clock, ids }).withUserMessage('Go.', { ids });
const open = (options: ChatOptions<readonly Participant[]>) => createChat({ ports: { clock, ids }, ...options });

describe('what a chat costs', () => {
  const participants = [llm('a'), scriptedParticipant({ name: 's', says: ['x'] }), llm('b')];

  test.each([
    { what: 'is not watched without prices', options: {}, cost: undefined },
    { what: 'is the sum over its models', options: { price }, cost: { usd: 4 } },
  ])('$what', async ({ options, cost }) => {
    const result = await open({ participants, limits: endless, ...options }).start(begin()).result;
    expect([result.status, result.cost]).toStrictEqual(['completed', cost]);
  });

  test('is kept on each step, and after JSON', async () => {
    const end = await open({ participants, limits: endless, price }).run(begin());
    expect(end.steps.map((step) => step.cost)).toStrictEqual([{ usd: 2 }, undefined, { usd: 2 }]);
    expect(ChatState.fromJSON(JSON.parse(JSON.stringify(end))).cost).toStrictEqual({ usd: 4 });
  });

  test('a participant with prices of its own is paid by those', async () => {
    const end = await open({ participants: [llm('a'), llm('b', { price: dear })], limits: endless, price }).run(begin());
    expect(end.cost).toStrictEqual({ usd: 11 });
  });

  test('agents and the coordinator are paid for, too', async () => {
    const agent = createAgent({ model: model(), price, limits: endless, ports: { clock, ids } });
    const lead = scriptedModel([
      { text: 'b', usage },
      { text: 'agent', usage },
    ]);
    const chat = open({
      participants: [agentParticipant({ name: 'agent', agent }), llm('b')],
      selector: coordinator({ model: lead }),
      limits: endless,
      price,
    });
    expect((await chat.run(begin())).cost).toStrictEqual({ usd: 8 });
  });

  test.each([
    { what: 'none of its own', own: {}, cost: { usd: 4 } },
    { what: 'prices of its own', own: { price: dear }, cost: { usd: 11 } },
  ])('an agent with $what is paid by those of the chat, or by its own', async ({ own, cost }) => {
    const agent = createAgent({ model: model(), limits: endless, ports: { clock, ids }, ...own });
    const end = await open({ participants: [agentParticipant({ name: 'agent', agent }), llm('b')], limits: endless, price }).run(begin());
    expect([end.cost, end.steps[0]?.cost]).toStrictEqual([cost, { usd: cost.usd - 2 }]);
  });

  test('the prices of the chat stop an agent that has none: the limit is heard inside its turn', async () => {
    const inner = scriptedModel([
      { toolCalls: [{ name: 'none' }], usage },
      { text: 'More.', usage },
    ]);
    const agent = createAgent({ model: inner, limits: endless, ports: { clock, ids } });
    const chat = open({
      participants: [agentParticipant({ name: 'agent', agent }), llm('b')],
      limits: { ...endless, costUsd: 2 },
      price,
    });
    const end = await chat.run(begin());
    expect([inner.calls.length, end.stopReason, end.cost]).toStrictEqual([1, 'guard', { usd: 2 }]);
  });

  test('an unknown price is not zero, and is said', async () => {
    const strange = llmParticipant({ name: 'x', model: scriptedModel([{ text: 'Hm.', usage }], { modelId: 'other' }), limits: endless });
    expect((await open({ participants: [llm('a'), strange], limits: endless, price }).run(begin())).cost).toStrictEqual({
      usd: 2,
      unknownCalls: 1,
    });
  });
});

describe('a limit of cost', () => {
  test('ends the chat after the turn that reached it', async () => {
    const end = await open({ participants: [llm('a'), llm('b'), llm('c')], limits: { ...endless, costUsd: 3 }, price }).run(begin());
    expect([end.stepCount, end.stopReason, end.lastContinuationOutcome?.resolvedBy, end.cost]).toStrictEqual([
      2,
      'guard',
      'CostLimit',
      { usd: 4 },
    ]);
  });

  test('is heard inside a turn: the model there is not asked again', async () => {
    const inner = scriptedModel([
      { text: 'I look.', toolCalls: [{ name: 'none' }], usage },
      { text: 'More.', usage },
    ]);
    const chat = open({
      participants: [llmParticipant({ name: 'a', model: inner, limits: endless }), llm('b')],
      limits: { ...endless, costUsd: 2 },
      price,
    });
    const end = await chat.run(begin());
    expect([inner.calls.length, end.stopReason, end.text, end.cost]).toStrictEqual([1, 'guard', '', { usd: 2 }]);
    expect(end.steps[0]).toMatchObject({ participant: 'a', interrupted: 'vote', outputMessages: [], errors: [] });
  });

  test('of a participant ends its own turn, not the chat', async () => {
    const a = llm('a', { limits: { ...endless, costUsd: 1 } });
    const end = await open({ participants: [a, llm('b')], limits: endless, price }).run(begin());
    expect([end.status, end.steps.map(({ participant }) => participant)]).toStrictEqual(['completed', ['a', 'b']]);
  });

  test('pauses where it may be raised, and goes on by a grant', async () => {
    const chat = open({ participants: [llm('a'), llm('b')], limits: { ...endless, costUsd: 1, onLimit: 'pause' }, price });
    const parked = ChatState.fromJSON(JSON.parse(JSON.stringify(await chat.run(begin()))));
    expect([parked.status, parked.waitingFor]).toMatchObject(['waiting', [{ type: 'grant', limit: 'cost' }]]);
    expect((await chat.run(parked.grant({ costUsd: 10 }))).status).toBe('completed');
  });
});

test('tokens inside a turn count outside at once: the limit of the chat ends the run inside', async () => {
  const inner = scriptedModel([{ text: 'I look.', toolCalls: [{ name: 'none' }], usage: { input: 50, output: 0 } }, { text: 'More.' }]);
  const end = await open({ participants: [llmParticipant({ name: 'a', model: inner }), llm('b')], limits: { tokens: 40 } }).run(begin());
  expect([inner.calls.length, end.stopReason, end.usage.total, end.steps[0]?.inner?.stopReason]).toStrictEqual([
    1,
    'token_limit',
    50,
    'token_limit',
  ]);
});
