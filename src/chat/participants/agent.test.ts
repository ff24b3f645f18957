import { describe, expect, test } from 'vitest';
import type { AgentOptions } from '../../agent/index.ts';
import { createAgent } from '../../agent/index.ts';
import { ModelFailedError } from '../../errors/index.ts';
import { createCountingIds, createFakeClock, InvalidArgumentError } from '../../lib/index.ts';
import type { ScriptedEntry } from '../../testing/index.ts';
import { scriptedModel } from '../../testing/index.ts';
import { defineContext, defineTool } from '../../tools/index.ts';
import type { ChatEvent } from '../index.ts';
import { agentParticipant, ChatState, createChat, scriptedParticipant } from '../index.ts';

const usage = { input: 3, output: 1 };
const roundTrip = (state: ChatState): ChatState => ChatState.fromJSON(JSON.parse(JSON.stringify(state)));
const erase = defineTool({ name: 'erase', description: 'Erases.', input: { type: 'object' }, needsApproval: true, run: () => 'gone' });

function setUp(script: readonly ScriptedEntry[], more: Partial<AgentOptions> = {}) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const ports = { clock, ids };
  const model = scriptedModel(script);
  const agent = createAgent({ model, instructions: 'You dig.', ports, ...more });
  const events: ChatEvent[] = [];
  const chat = createChat({
    participants: [agentParticipant({ name: 'digger', agent }), scriptedParticipant({ name: 'max', says: ['Hm.'] })],
    ports,
  });
  chat.wiretap((event) => events.push(event));
  return { chat, model, events, ids, start: ChatState.empty({ clock, ids }).withUserMessage('Dig.', { ids }) };
}

describe('an agent that takes part', () => {
  test('speaks with the last words of its run; usage and end are kept', async () => {
    const { chat, start } = setUp([{ text: 'I found it.', usage }]);
    const state = await chat.nextStep(start);
    expect(state.transcript.at(-1)).toStrictEqual({ speaker: 'digger', text: 'I found it.' });
    expect(state.currentStep?.inner).toMatchObject({ orchestrator: 'agent', status: 'completed', stopReason: 'completed', stepCount: 1 });
    expect(state.usage.total).toBe(4);
  });

  test('is linked by parentAgentId, in events and on the step', async () => {
    const { chat, start, events } = setUp([{ text: 'I found it.' }]);
    const state = await chat.nextStep(start);
    const inner = events.filter(({ parentAgentId }) => parentAgentId === state.agentId);
    expect(inner.map(({ type }) => type)).toContain('InferenceStarted');
    expect(new Set(inner.map(({ agentId }) => agentId))).toStrictEqual(new Set([state.currentStep?.inner?.agentId]));
    expect(inner.every(({ participant }) => participant === 'digger')).toBe(true);
    expect(state.currentStep?.inner?.agentId).not.toBe(state.agentId);
  });

  test('reads the conversation as its own, with the names of the others', async () => {
    const { chat, start, model, ids } = setUp([{ text: 'One.' }, { text: 'Two.' }]);
    await chat.run((await chat.run(start)).withUserMessage('More.', { ids }));
    expect(model.calls[1]?.messages.map(({ role, text }) => `${role}: ${text}`)).toStrictEqual([
      'system: You dig.',
      'user: Dig.',
      'assistant: One.',
      'user: [max] Hm.',
      'user: More.',
    ]);
  });

  test('keeps its own limits', async () => {
    const look = defineTool({ name: 'look', description: 'A tool.', input: { type: 'object' }, effect: 'pure', run: () => 'earth' });
    const looks: ScriptedEntry = { text: 'I look.', toolCalls: [{ name: 'look' }], usage };
    const { chat, start } = setUp([looks, looks, looks], { tools: [look], limits: { steps: 2 } });
    const end = await chat.run(start);
    expect(end.steps[0]?.inner).toMatchObject({ stepCount: 2, stopReason: 'steps_limit' });
    // Words before a call whose result it has not read are not an answer.
    expect([end.steps.map(({ participant }) => participant), end.status, end.messages.length]).toStrictEqual([['digger'], 'failed', 1]);
    expect(end.errors).toMatchObject([
      { code: 'turn-incomplete', type: 'model', retryable: false, message: expect.stringMatching(/digger.*steps_limit.*2 of 2/) as string },
    ]);
  });

  test('that fails makes one failed turn of its own, charged to it', async () => {
    const { chat, start } = setUp([{ error: new ModelFailedError('no more light', { retryable: false }), usage }]);
    const end = await chat.run(start);
    expect([end.status, end.participant, end.stepResults.length, end.messages.length]).toStrictEqual(['failed', 'digger', 1, 1]);
    expect(end.errors[0]?.message).toContain('no more light');
    expect(end.currentStep?.inner).toMatchObject({ status: 'failed', stopReason: 'error' });
    expect(end.usage.total).toBe(4);
  });

  test('that waits for an approval makes the chat wait, under an id that leads back, also after JSON', async () => {
    const { chat, start } = setUp(
      [
        { toolCalls: [{ name: 'erase', id: 'c1' }], usage },
        { text: 'Erased.', usage },
      ],
      { tools: [erase] },
    );
    const parked = roundTrip(await chat.run(start));
    expect([parked.status, parked.waitingFor]).toMatchObject([
      'waiting',
      [{ type: 'approval', id: 'digger/c1', toolName: 'erase', agent: 'digger' }],
    ]);
    expect(parked.currentStep).toBeUndefined();
    expect(parked.participant).toBe('digger');
    const end = await chat.run(roundTrip(parked.approve('digger/c1')));
    expect(end.transcript.map(({ text }) => text)).toStrictEqual(['Dig.', 'Erased.', 'Hm.']);
    expect([end.status, end.usage.total, end.stepCount]).toStrictEqual(['completed', 8, 2]);
    expect(end.steps[0]?.memo).toBeUndefined();
  });

  test('that would wait for a higher limit of its own ends its turn instead', async () => {
    const looks: ScriptedEntry = { text: 'I look.', toolCalls: [{ name: 'erase' }], usage };
    const free = defineTool({ name: 'erase', description: 'A tool.', input: { type: 'object' }, run: () => 'gone' });
    const { chat, start } = setUp([looks, looks], { tools: [free], limits: { steps: 1, onLimit: 'pause' } });
    const end = await chat.run(start);
    expect([end.status, end.waitingFor, end.errors[0]?.code, end.steps[0]?.inner?.stopReason]).toStrictEqual([
      'failed',
      [],
      'turn-incomplete',
      'steps_limit',
    ]);
  });

  test('gets the context of the chat, or one that is made of it', async () => {
    const [clock, ids] = [createFakeClock(), createCountingIds()];
    const seen: unknown[] = [];
    const peek = defineTool({
      name: 'peek',
      description: 'A tool.',
      input: { type: 'object' },
      context: defineContext<{ n: number }>(),
      run: (_, { context }) => {
        seen.push(context.n);
        return null;
      },
    });
    const setUpAgent = () =>
      createAgent({ model: scriptedModel([{ toolCalls: [{ name: 'peek' }] }, { text: 'Seen.' }]), tools: [peek], ports: { clock, ids } });
    const chat = createChat({
      participants: [
        agentParticipant({ name: 'a', agent: setUpAgent() }),
        agentParticipant({ name: 'b', agent: setUpAgent(), context: ({ n }: { n: number }) => ({ n: n * 10 }) }),
      ],
      ports: { clock, ids },
    });
    const end = await chat.run(ChatState.empty({ clock, ids }).withUserMessage('Look.', { ids }), { context: { n: 4 } });
    expect([end.status, seen]).toStrictEqual(['completed', [4, 40]]);
  });

  test('that needs a context is refused a run without one, before any turn; one that makes its own is not', async () => {
    const peek = defineTool({
      name: 'peek',
      description: 'A tool.',
      input: { type: 'object' },
      context: defineContext<{ n: number }>(),
      run: (_, { context }) => context.n,
    });
    const { chat, start, events, model } = setUp([{ text: 'x' }], { tools: [peek] });
    const refused = chat.run(start);
    await expect(refused).rejects.toThrow(InvalidArgumentError);
    await expect(refused).rejects.toThrow(/digger needs a context/);
    expect([events.length, model.calls.length]).toStrictEqual([0, 0]);
    const own = createAgent({ model, tools: [peek] });
    const made = chat.with({ participants: [agentParticipant({ name: 'digger', agent: own, context: () => ({ n: 1 }) })] });
    expect((await made.run(start)).status).toBe('completed');
  });
});

test.each([
  { what: 'nothing', options: undefined },
  { what: 'no name', options: { agent: createAgent({ model: scriptedModel([]) }) } },
  { what: 'no agent', options: { name: 'a' } },
  { what: 'an agent that is none', options: { name: 'a', agent: { run: () => undefined } } },
  { what: 'a misspelt option', options: { name: 'a', agent: createAgent({ model: scriptedModel([]) }), contxt: 1 } },
  { what: 'a context that is no function', options: { name: 'a', agent: createAgent({ model: scriptedModel([]) }), context: {} } },
])('agentParticipant() with $what is refused', ({ options }) => {
  expect(() => agentParticipant(options as never)).toThrow(InvalidArgumentError);
});
