import { describe, expect, test } from 'vitest';
import { createAgent } from '../agent/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { ScriptedEntry } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import type { ChatEvent, ChatOptions, Participant } from './index.ts';
import {
  agentParticipant,
  ChatState,
  createChat,
  functionParticipant,
  humanParticipant,
  llmParticipant,
  ParticipantSelected,
  scriptedParticipant,
} from './index.ts';

const usage = { input: 3, output: 2 };
const says = (name: string, ...words: readonly string[]): Participant => scriptedParticipant({ name, says: words });
const look = defineTool({ name: 'look', description: 'A tool.', input: { type: 'object' }, effect: 'pure', run: () => 'seen' });
const looks: ScriptedEntry = { text: 'I look.', toolCalls: [{ name: 'look' }], usage };
const roundTrip = (state: ChatState): ChatState => ChatState.fromJSON(JSON.parse(JSON.stringify(state)));

const company = (ids = createCountingIds('n'), clock = createFakeClock()): readonly Participant[] => [
  says('script', 'x'),
  llmParticipant({ name: 'model', model: scriptedModel([looks, { chunks: ['Here ', 'it '], text: 'is.', usage }]), tools: [look] }),
  agentParticipant({
    name: 'agent',
    agent: createAgent({ model: scriptedModel([looks, { text: 'Dug.', usage }]), tools: [look], ports: { ids, clock } }),
  }),
  functionParticipant({ name: 'function', speak: () => 'f' }),
  humanParticipant({ name: 'human', reply: () => 'h' }),
];

function setUp(options: Omit<ChatOptions<readonly Participant[]>, 'ports'>) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const events: ChatEvent[] = [];
  const chat = createChat({ ...options, ports: { clock, ids, onProblem: () => undefined } });
  chat.wiretap((event) => events.push(event));
  return { chat, clock, ids, events, start: ChatState.empty({ clock, ids }).withUserMessage('Go.', { ids }) };
}

const isPiece = ({ id }: ChatEvent): boolean => id.includes('.');

describe('the events of a chat with every kind of participant', () => {
  const run = async () => {
    const world = setUp({ participants: company() });
    return { ...world, end: await world.chat.run(world.start) };
  };

  test('each turn: begun, selected, completed, judged, in that order, under the name of its speaker', async () => {
    const { events, end } = await run();
    const own = events.filter(({ agentId, stepNumber }) => agentId === end.agentId && stepNumber > 0);
    const names = ['script', 'model', 'agent', 'function', 'human'];
    names.forEach((name, index) => {
      const types = own.filter((event) => event.stepNumber === index + 1 && !isPiece(event)).map(({ type }) => type);
      expect(types.slice(0, 2)).toStrictEqual(['AgentStepStarted', 'ParticipantSelected']);
      expect(types.filter((type) => type === 'AgentStepCompleted' || type === 'ContinuationEvaluated')).toHaveLength(2);
    });
    const turns = own.filter(({ type }) =>
      ['AgentStepStarted', 'ParticipantSelected', 'AgentStepCompleted', 'ContinuationEvaluated'].includes(type),
    );
    expect(turns.every(({ participant, stepNumber }) => participant === names[stepNumber - 1])).toBe(true);
    expect(end.status).toBe('completed');
  });

  test("what belongs to a turn says whose turn it is, at every depth; the rest is the chat's own", async () => {
    const { events, end } = await run();
    const nameless = events.filter(({ participant }) => participant === undefined);
    expect(nameless.every(({ agentId }) => agentId === end.agentId)).toBe(true);
    const types = new Set(nameless.map(({ type }) => type));
    for (const type of ['TextDelta', 'ToolCallStarted', 'InferenceStarted', 'AgentStepStarted', 'AgentStepCompleted'])
      expect(types.has(type as never)).toBe(false);
    const inner = events.filter(({ parentAgentId }) => parentAgentId === end.agentId);
    expect(new Set(inner.map(({ participant }) => participant))).toStrictEqual(new Set(['model', 'agent']));
    const ids = end.steps.flatMap(({ inner: each }) => (each === undefined ? [] : [each.agentId]));
    expect(new Set(inner.map(({ agentId }) => agentId))).toStrictEqual(new Set(ids));
  });

  test('are of the same types as everywhere, and name the kind of orchestrator', async () => {
    const { events, end } = await run();
    const orchestrators = new Map(events.map((event) => [event.agentId, event.orchestrator]));
    expect([...orchestrators.values()]).toStrictEqual(['chat', 'tool-use', 'agent']);
    expect(orchestrators.get(end.agentId)).toBe('chat');
    expect(events[0]).toMatchObject({ type: 'AgentExecutionStarted', orchestrator: 'chat', agent: { id: 'chat' } });
    expect(events.at(-1)).toMatchObject({ type: 'AgentFinished', orchestrator: 'chat' });
  });

  test('are numbered without a gap over the chat and the runs inside', async () => {
    const { events, end } = await run();
    const numbers = events.filter((event) => !isPiece(event)).map(({ seq }) => seq);
    expect(numbers).toStrictEqual(numbers.map((_, index) => index + 1));
    expect([end.data.lastSeq, new Set(events.map(({ id }) => id)).size]).toStrictEqual([numbers.length, events.length]);
  });

  test('are numbered on from there after JSON and a second input', async () => {
    const { chat, ids, events, end } = await run();
    const before = end.data.lastSeq;
    events.length = 0;
    await chat.with({ participants: [says('script', 'y')] }).run(roundTrip(end).withUserMessage('More.', { ids }));
    const numbers = events.filter((event) => !isPiece(event)).map(({ seq }) => seq);
    expect(numbers).toStrictEqual(numbers.map((_, index) => before + index + 1));
  });
});

describe('streaming', () => {
  test('every delta says who speaks, and the deltas of a turn are its words', async () => {
    const { chat, start } = setUp({ participants: company() });
    const run = chat.start(start);
    const spoken = new Map<string, string>();
    for await (const event of run)
      if (event.type === 'TextDelta') spoken.set(event.participant ?? '?', (spoken.get(event.participant ?? '?') ?? '') + event.text);
    expect((await run.result).status).toBe('completed');
    expect(Object.fromEntries(spoken)).toStrictEqual({
      script: 'x',
      model: 'I look.Here it is.',
      agent: 'I look.Dug.',
      function: 'f',
      human: 'h',
    });
  });

  test('words that nobody streams come in one piece; nothing said is no piece', async () => {
    const { chat, start, events } = setUp({ participants: [says('a', ''), says('b', 'All at once.')] });
    await chat.run(start);
    expect(events.filter(({ type }) => type === 'TextDelta')).toMatchObject([{ participant: 'b', text: 'All at once.' }]);
  });

  test('leaving the loop detaches and stops nothing', async () => {
    const { chat, start } = setUp({ participants: company() });
    const run = chat.start(start);
    for await (const event of run) if (event.seq > 0) break;
    expect((await run.result).status).toBe('completed');
  });

  test('a run without a reader settles', async () => {
    const { chat, start } = setUp({ participants: company() });
    expect((await chat.start(start).result).state.stepCount).toBe(5);
  });

  test('the words of a failed turn were told, and the failure too', async () => {
    const m = llmParticipant({ name: 'm', model: scriptedModel([{ chunks: ['Half'], error: new Error('cut') }]) });
    const { chat, start, events } = setUp({ participants: [m] });
    const end = await chat.run(start);
    expect(events.filter(({ type }) => type === 'TextDelta').map(({ participant }) => participant)).toStrictEqual(['m']);
    expect(events.filter(({ type, agentId }) => type === 'AgentFailed' && agentId === end.agentId)).toHaveLength(1);
  });
});

describe('ParticipantSelected', () => {
  const header = { id: 'e', seq: 1, at: 0, agentId: 'chat-1', executionId: 'x', stepNumber: 2, participant: 'ann' };

  test.each([
    { selection: { by: 'round-robin' }, line: 'has the turn (chosen by round-robin)' },
    { selection: { by: 'coordinator', reason: 'she knows' }, line: 'has the turn (chosen by coordinator): she knows' },
    { selection: { by: 'coordinator', problem: 'zoe is not here' }, line: 'has the turn (chosen by coordinator); zoe is not here' },
  ])('reads "$line"', ({ selection, line }) => {
    const event = new ParticipantSelected(header, 'chat', selection);
    expect([event.describe(), event.toString().includes('(ann)')]).toStrictEqual([line, true]);
  });

  test('is plain data', () => {
    const event = new ParticipantSelected(header, 'chat', { by: 'x', reason: 'y' });
    expect(JSON.parse(JSON.stringify(event))).toStrictEqual({
      ...header,
      parentAgentId: null,
      orchestrator: 'chat',
      type: 'ParticipantSelected',
      selectedBy: 'x',
      reason: 'y',
    });
  });

  test('shows no secrets in its line', () => {
    const key = 'sk-abcdefghijklmnopqrstuvwxyz012345';
    expect(new ParticipantSelected(header, 'chat', { by: 'x', reason: `the key is ${key}` }).describe()).not.toContain(key);
  });

  test('is plain data also where a turn is taken up again, and reads so', () => {
    const event = new ParticipantSelected(header, 'chat', { by: 'x', reason: 'y', resumed: true });
    expect([event.describe(), JSON.parse(JSON.stringify(event))]).toMatchObject(['continues its turn', { resumed: true, selectedBy: 'x' }]);
  });

  test('comes again for a turn that is taken up after a wait, with the same number, also on another machine', async () => {
    const open = () => setUp({ participants: [says('a', 'x'), humanParticipant({ name: 'ann' })] });
    const { chat, start } = open();
    const parked = await chat.run(start);
    const elsewhere = open();
    await elsewhere.chat.run(roundTrip(parked).answer('ann/2', 'Yes.'));
    const told = elsewhere.events.filter((event) => event.type === 'ParticipantSelected');
    expect(told).toMatchObject([{ participant: 'ann', stepNumber: 2, selectedBy: 'round-robin', resumed: true, agentId: parked.agentId }]);
  });

  test('comes again for a turn that is tried again, and says so', async () => {
    let tries = 0;
    const f = functionParticipant({ name: 'f', speak: () => ((tries += 1) === 1 ? Promise.reject(new Error('no')) : 'yes') });
    const { chat, start, events } = setUp({ participants: [f], errors: ErrorPolicy.retryAll(3).withBackoff({ baseMs: 0 }) });
    await chat.run(start);
    const told = events.filter((event): event is ParticipantSelected => event.type === 'ParticipantSelected');
    expect(told.map(({ participant, selectedBy }) => [participant, selectedBy])).toStrictEqual([
      ['f', 'round-robin'],
      ['f', 'retry'],
    ]);
  });
});

describe('PersonAsked', () => {
  test('comes with the prompt; again, with the problem, where an answer could not be used; and not for one that could', async () => {
    const { chat, start, events } = setUp({ participants: [humanParticipant({ name: 'ann', prompt: 'Your view?' })] });
    const listQuestions = () => events.filter((event) => event.type === 'PersonAsked');
    const parked = await chat.run(start);
    expect(listQuestions()).toMatchObject([{ participant: 'ann', waitId: 'ann/1', prompt: 'Your view?' }]);
    expect('problem' in (listQuestions()[0] ?? {})).toBe(false);
    const again = await chat.run(roundTrip(parked).answer('ann/1', 4));
    expect(listQuestions()[1]).toMatchObject({
      participant: 'ann',
      waitId: 'ann/1',
      prompt: 'Your view?',
      problem: expect.stringContaining('text') as string,
    });
    await chat.run(again.answer('ann/1', 'Fine.'));
    expect(listQuestions()).toHaveLength(2);
  });
});
