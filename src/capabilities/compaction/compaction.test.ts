import { describe, expect, test } from 'vitest';
import type { AgentOptions } from '../../agent/index.ts';
import { AgentState, createAgent } from '../../agent/index.ts';
import { ContinuationCriteria, StepsLimit } from '../../continuation/index.ts';
import { RateLimitedError } from '../../errors/index.ts';
import { HookChain } from '../../hooks/index.ts';
import type { ModelRequest } from '../../inference/index.ts';
import { createCountingIds, createFakeClock, InvalidArgumentError } from '../../lib/index.ts';
import { Message, MessageStore, SectionName, Usage } from '../../messages/index.ts';
import { createStepByStep } from '../../step-by-step/index.ts';
import type { ScriptedEntry } from '../../testing/index.ts';
import { ScriptedState, scriptedModel } from '../../testing/index.ts';
import type { ToolEvent } from '../../tool-use/index.ts';
import { reActDriver, ToolUse, ToolUseState } from '../../tool-use/index.ts';
import { defineTool } from '../../tools/index.ts';
import { compaction } from './compaction.ts';
import type { CompactionOptions } from './options.ts';

// The set-up: every message takes 10 tokens, so that windows can be read off the tests.

const usage = { input: 10, output: 5 };
const says = (text: string): ScriptedEntry => ({ text, usage });
const calls = (...names: readonly string[]): ScriptedEntry => ({ toolCalls: names.map((name) => ({ name })), usage });
const look = defineTool({ name: 'look', description: 'Looks.', input: { type: 'object', properties: {} } as const, run: () => 'seen' });
const never = (): Promise<never> => new Promise(() => undefined);

type Bounds = Partial<Omit<CompactionOptions, 'model'>>;
type Given = Partial<Omit<AgentOptions, 'capabilities' | 'model' | 'tools'>>;

interface Scripts {
  readonly answers: readonly ScriptedEntry[];
  readonly summaries?: readonly ScriptedEntry[];
}

function setUp({ answers, summaries = [] }: Scripts, bounds: Bounds = {}, more: Given = {}) {
  const [clock, ids] = [createFakeClock(), createCountingIds('id')];
  const [model, summarizer] = [scriptedModel(answers), scriptedModel(summaries, { modelId: 'summarizer' })];
  const problems: unknown[] = [];
  const agent = createAgent({
    model,
    tools: [look],
    ...more,
    capabilities: [compaction({ model: summarizer, countTokens: () => 10, ...bounds })],
    ports: { clock, ids, onProblem: (problem) => problems.push(problem) },
  });
  const host = new AbortController();
  const events: ToolEvent[] = [];
  const start = AgentState.empty({ clock, ids });
  const run = (state: AgentState) => agent.run(state, { signal: host.signal, onEvent: (event) => events.push(event) });
  const say = (state: AgentState, text: string): Promise<AgentState> => run(state.withUserMessage(text, { ids }));
  // What it says itself; that it was cut off is said for it.
  const reports = () =>
    events.flatMap((event) => (event.type === 'HookReported' && !event.message.startsWith('it was still at work') ? [event] : []));
  return { agent, model, summarizer, clock, ids, host, events, problems, start, run, say, reports };
}

const roundTrip = (state: AgentState): AgentState => AgentState.fromJSON(JSON.parse(JSON.stringify(state)));
const listTexts = (messages: Iterable<Message>): readonly string[] =>
  [...messages].map(
    ({ text, toolCalls, toolResults }) => text || (toolCalls.length > 0 ? `calls ${toolCalls.length}` : `results ${toolResults.length}`),
  );
const getSections = ({ store }: { readonly store: MessageStore }) => ({
  summary: listTexts(store.section(SectionName.Summary)),
  buffer: listTexts(store.section(SectionName.Buffer)),
  messages: listTexts(store.section(SectionName.Messages)),
});
const readBy = (request: ModelRequest | undefined): readonly string[] => listTexts(request?.messages ?? []);
const summary = (text: string): string => `Summary of the conversation before this point:\n\n${text}`;

describe('a conversation that fits', () => {
  test('is left as it is, and nothing is reported or asked', async () => {
    const { say, start, events, summarizer } = setUp({ answers: [calls('look'), says('Hello.')] }, { maxTokens: 40 });
    const before = await say(start, 'Look.');
    expect([before.status, before.store.names]).toStrictEqual(['completed', ['messages']]);
    expect(events.filter(({ type }) => type.startsWith('Hook'))).toStrictEqual([]);
    expect(summarizer.calls).toHaveLength(0);
  });

  test('is judged with an estimate of its tokens, and 40 % of the window, unless configured otherwise', async () => {
    const { say, start, reports } = setUp(
      { answers: [says('One.'), says('Two.'), says('Three.')] },
      { countTokens: undefined as never, contextWindow: 10_240 },
    );
    const one = await say(start, 'x'.repeat(4 * 4000));
    const two = await say(one, 'y'.repeat(4 * 50));
    expect(reports()).toHaveLength(0);
    const three = await say(two, 'z'.repeat(4 * 100));
    expect(reports()[0]?.data).toMatchObject({ moved: 1, movedTokens: 4004, summarized: 0 });
    expect(listTexts(three.messages)[0]).toBe('One.');
  });
});

describe('a conversation that has outgrown its window', () => {
  test('moves its oldest messages to the buffer, which the model still reads', async () => {
    const { say, start, model, events } = setUp({ answers: [says('One.'), says('Two.')] }, { maxTokens: 20 });
    const one = await say(start, 'First?');
    const two = await say(one, 'Second?');
    expect(getSections(two)).toStrictEqual({ summary: [], buffer: ['First?'], messages: ['One.', 'Second?', 'Two.'] });
    expect(readBy(model.calls[1])).toStrictEqual(['First?', 'One.', 'Second?']);
    expect(two.messagesForInference.toArray().map(({ id }) => id)).toStrictEqual([
      ...one.messages.map(({ id }) => id),
      ...two.messages
        .toArray()
        .slice(1)
        .map(({ id }) => id),
    ]);
    expect(events.find(({ type }) => type === 'HookApplied')).toMatchObject({ hook: 'compaction', changed: ['conversation'] });
  });

  test('says once what was folded', async () => {
    const { say, start, reports } = setUp({ answers: [says('One.'), says('Two.')] }, { maxTokens: 20 });
    await say(await say(start, 'First?'), 'Second?');
    expect(reports()).toHaveLength(1);
    expect(reports()[0]).toMatchObject({
      hook: 'compaction',
      point: 'before_step',
      message: '1 message moved to the buffer',
      data: { moved: 1, movedTokens: 10, keptTokens: 20, summarized: 0, bufferTokens: 10, summaryTokens: 0 },
    });
    expect(reports()[0]?.data).not.toHaveProperty('failure');
  });

  test('keeps a call with its results', async () => {
    const { say, start, model } = setUp({ answers: [calls('look', 'look'), says('Done.'), says('Bye.')] }, { maxTokens: 40 });
    const end = await say(await say(start, 'Look twice.'), 'Thanks.');
    // To let two messages go would have been enough, but would have parted the call from its results.
    expect(getSections(end)).toStrictEqual({
      summary: [],
      buffer: ['Look twice.', 'calls 2', 'results 1', 'results 1'],
      messages: ['Done.', 'Thanks.', 'Bye.'],
    });
    expect(readBy(model.calls[2])).toStrictEqual(['Look twice.', 'calls 2', 'results 1', 'results 1', 'Done.', 'Thanks.']);
  });

  test('keeps its newest message, however large, and says so', async () => {
    const { say, start, reports, summarizer } = setUp({ answers: [says('One.')] }, { maxTokens: 5 });
    const end = await say(start, 'Long.');
    expect(getSections(end)).toStrictEqual({ summary: [], buffer: [], messages: ['Long.', 'One.'] });
    expect(reports().map(({ message, data }) => [message, data['moved'], data['keptTokens']])).toStrictEqual([
      ['the newest message and what belongs to it stay, although they are larger than the window: 10 of 5 tokens', 0, 10],
    ]);
    expect([end.status, summarizer.calls.length]).toStrictEqual(['completed', 0]);
  });
});

describe('a buffer that has outgrown its bounds', () => {
  const bounds = { maxTokens: 20, maxBufferTokens: 15 };

  test('becomes the summary, which the model reads in its place', async () => {
    const script = { answers: [says('One.'), says('Two.')], summaries: [says('They greeted.')] };
    const { say, start, model, reports } = setUp(script, { maxTokens: 10, maxBufferTokens: 15 });
    const end = await say(await say(start, 'First?'), 'Second?');
    expect(getSections(end)).toStrictEqual({ summary: [summary('They greeted.')], buffer: [], messages: ['Second?', 'Two.'] });
    expect(readBy(model.calls[1])).toStrictEqual([summary('They greeted.'), 'Second?']);
    expect(reports().map(({ message, data }) => [message, data])).toStrictEqual([
      [
        '2 messages moved to the buffer; 2 messages folded into the summary',
        { moved: 2, movedTokens: 20, keptTokens: 10, summarized: 2, bufferTokens: 0, summaryTokens: 10 },
      ],
    ]);
  });

  test('leaves a message of the user in the first place, marked as the summary', async () => {
    const script = { answers: [says('One.'), says('Two.')], summaries: [says(' They greeted.\n')] };
    const { say, start } = setUp(script, { maxTokens: 10, maxBufferTokens: 15 });
    const end = await say(await say(start, 'First?'), 'Second?');
    const first = end.messagesForInference.at(0);
    expect([first?.role, first?.metadata, first?.text]).toStrictEqual(['user', { purpose: 'summary' }, summary('They greeted.')]);
    const ids = end.messagesForInference.toArray().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('is told in words to a model with no tools that was set', async () => {
    const script = { answers: [calls('look'), says('Seen.'), says('Two.')], summaries: [says('They looked.')] };
    const { say, start, summarizer } = setUp(script, {
      maxTokens: 10,
      maxBufferTokens: 30,
      maxSummaryTokens: 99,
      instructions: 'Keep the order numbers.',
    });
    await say(await say(start, 'Look.'), 'And?');
    const [request] = summarizer.calls;
    expect([request?.settings, request?.tools]).toStrictEqual([{ maxOutputTokens: 99 }, undefined]);
    const [instructions, material] = request?.messages ?? [];
    expect([instructions?.role, material?.role, request?.messages.length]).toStrictEqual(['system', 'user', 2]);
    expect(instructions?.text).toContain('in at most 99 tokens');
    expect(instructions?.text).toMatch(/\n\nKeep the order numbers\.$/);
    expect(material?.text).toBe(
      'The conversation:\n\nuser: Look.\n\nassistant: [calls look: {}]\n\ntool: [look gave: seen]\n\nassistant: Seen.',
    );
  });

  test('is folded with the old summary first, the next time', async () => {
    const script = { answers: [says('One.'), says('Two.'), says('Three.')], summaries: [says('Old things.'), says('All things.')] };
    const { say, start, summarizer } = setUp(script, { maxTokens: 10, maxBufferTokens: 15 });
    const two = await say(await say(start, 'First?'), 'Second?');
    const end = await say(two, 'Third?');
    expect(summarizer.calls[1]?.messages[1]?.text).toBe(
      'The summary so far:\n\nOld things.\n\nWhat was said since:\n\nuser: Second?\n\nassistant: Two.',
    );
    expect(getSections(end)).toStrictEqual({ summary: [summary('All things.')], buffer: [], messages: ['Third?', 'Three.'] });
  });

  test('leaves what the user said last in the user’s own words, while a run of tools is folded', async () => {
    const script = {
      answers: [calls('look'), calls('look'), calls('look'), says('Done.')],
      summaries: [says('Looked once.'), says('Looked twice.')],
    };
    const { say, start, model } = setUp(script, bounds);
    const end = await say(start, 'Look three times.');
    expect([end.status, end.text, end.stepCount]).toStrictEqual(['completed', 'Done.', 4]);
    expect(model.calls.map(readBy)).toStrictEqual([
      ['Look three times.'],
      ['Look three times.', 'calls 1', 'results 1'],
      [summary('Looked once.'), 'Look three times.', 'calls 1', 'results 1'],
      [summary('Looked twice.'), 'Look three times.', 'calls 1', 'results 1'],
    ]);
    expect(getSections(end).buffer).toStrictEqual(['Look three times.']);
  });

  test('is not folded for the user’s last words alone, however large they are', async () => {
    const countTokens = ({ text }: Message): number => (text === 'Long.' ? 100 : 10);
    const { say, start, summarizer } = setUp({ answers: [calls('look'), says('Done.')] }, { ...bounds, countTokens });
    const end = await say(start, 'Long.');
    expect([getSections(end).buffer, summarizer.calls.length]).toStrictEqual([['Long.'], 0]);
  });

  test('keeps a call whose result came after it had moved', async () => {
    const call = Message.assistant([{ type: 'tool-call', toolCallId: 'c', toolName: 'search', args: {}, providerExecuted: true }], {
      id: 'call',
    });
    const result = Message.assistant(
      [
        { type: 'tool-result', toolCallId: 'c', toolName: 'search', output: { type: 'text', value: 'found' }, providerExecuted: true },
        { type: 'text', text: 'Found.' },
      ],
      { id: 'result' },
    );
    const script = { answers: [says('Bye.')], summaries: [says('They greeted.')] };
    const { start, say } = setUp(script, { maxTokens: 20, maxBufferTokens: 15 });
    const [hello, hi] = [Message.user('Hello.', { id: 'hello' }), Message.assistant('Hi.', { id: 'hi' })];
    const store = MessageStore.fromMessages([hello, hi, call], SectionName.Buffer).append(SectionName.Messages, result);
    const end = await say(start.evolve({ store }), 'Thanks.');
    expect(getSections(end)).toStrictEqual({
      summary: [summary('They greeted.')],
      buffer: ['calls 1'],
      messages: ['Found.', 'Thanks.', 'Bye.'],
    });
  });

  test('is folded over many turns and restores, and the model always reads summary, buffer, messages', async () => {
    const turns = Array.from({ length: 12 }, (_, index) => index + 1);
    const script = {
      answers: turns.flatMap((turn) => [calls('look'), says(`Answer ${turn}.`)]),
      summaries: turns.map((turn) => says(`Summary ${turn}.`)),
    };
    const { start, say, model, summarizer, problems } = setUp(script, { maxTokens: 50, maxBufferTokens: 60 });
    const said: string[] = [];
    let state = start;
    for (const turn of turns) {
      const before = state;
      said.push(`Question ${turn}?`);
      state = roundTrip(await say(roundTrip(state), `Question ${turn}?`));
      said.push('calls 1', 'results 1', `Answer ${turn}.`);
      expect(state.status).toBe('completed');
      const sections = getSections(state);
      const left = [...sections.buffer, ...sections.messages];
      // What is left is the end of what was said, in its order.
      expect(left).toStrictEqual(said.slice(-left.length));
      expect(left.length).toBeGreaterThanOrEqual(4);
      expect(readBy(model.calls.at(-1))).toStrictEqual([...sections.summary, ...left.slice(0, -1)]);
      expect(listTexts(state.messagesForInference)).toStrictEqual([...sections.summary, ...left]);
      // Steps of the past are whole, although their messages are folded away.
      expect(state.session.stepCount).toBe(before.session.stepCount + 2);
      expect(state.session.executions[0]?.results.at(0)?.step.executions[0]).toMatchObject({ status: 'succeeded', value: 'seen' });
    }
    expect(summarizer.calls.length).toBeGreaterThan(2);
    expect(summarizer.calls.slice(1).every(({ messages }, index) => messages[1]?.text.includes(`Summary ${index + 1}.`))).toBe(true);
    // Every question is either still there or was shown to the summarizer once.
    const shown = summarizer.calls.map(({ messages }) => messages[1]?.text ?? '').join('\n');
    const { buffer, messages } = getSections(state);
    for (const turn of turns) {
      const timesShown = shown.split(`user: Question ${turn}?`).length - 1;
      expect(timesShown + [...buffer, ...messages].filter((words) => words === `Question ${turn}?`).length).toBe(1);
    }
    expect(problems).toStrictEqual([]);
  });
});

describe('what a summary uses', () => {
  const bounds = { maxTokens: 10, maxBufferTokens: 15 };
  const expensive: ScriptedEntry = { text: 'They greeted.', usage: { input: 1000, output: 50 } };

  test('counts as the step’s', async () => {
    const { say, start } = setUp({ answers: [says('One.'), says('Two.')], summaries: [expensive] }, bounds);
    const end = await say(await say(start, 'First?'), 'Second?');
    expect([end.usage.total, end.currentStep?.usage.total]).toStrictEqual([1065, 1065]);
    expect(roundTrip(end).usage).toStrictEqual(end.usage);
  });

  test('counts under the limits', async () => {
    const script = { answers: [says('One.'), calls('look'), says('Never.')], summaries: [expensive] };
    const { say, start, model } = setUp(script, bounds, { limits: { tokens: 500 } });
    const end = await say(await say(start, 'First?'), 'Second?');
    expect([end.status, end.stopReason, end.stepCount, model.calls.length]).toStrictEqual(['stopped', 'token_limit', 1, 2]);
  });

  test('is priced as its own model’s', async () => {
    const { say, start } = setUp({ answers: [says('One.'), says('Two.')], summaries: [expensive] }, bounds, {
      limits: { costUsd: 100 },
      price: (_usage, { modelId }) => ({ usd: modelId === 'summarizer' ? 3 : 1 }),
    });
    const end = await say(await say(start, 'First?'), 'Second?');
    expect(end.cost).toStrictEqual({ usd: 4 });
  });
});

describe('a summary that cannot be made', () => {
  const bounds = { maxTokens: 10, maxBufferTokens: 15 };
  const answers = [says('One.'), says('Two.'), says('Three.')];

  test.each<[string, ScriptedEntry, string]>([
    ['the model fails', { error: new RateLimitedError('429: slow down') }, 'rate-limited'],
    ['the model throws', () => Promise.reject(new Error('broken')), 'unclassified'],
    ['the answer is empty', { text: '  ', usage }, 'empty-response'],
    ['the answer holds no words', { toolCalls: [{ name: 'look' }], usage }, 'empty-summary'],
    ['the provider withholds it', { text: 'They …', finishReason: 'content_filter', usage }, 'summary-withheld'],
  ])('where %s leaves buffer and summary as they are, and the run goes on', async (_, entry, code) => {
    const { say, start, model, reports } = setUp({ answers, summaries: [entry] }, bounds);
    const end = await say(await say(start, 'First?'), 'Second?');
    expect([end.status, end.text, end.errors]).toStrictEqual(['completed', 'Two.', []]);
    expect(getSections(end)).toStrictEqual({ summary: [], buffer: ['First?', 'One.'], messages: ['Second?', 'Two.'] });
    expect(readBy(model.calls[1])).toStrictEqual(['First?', 'One.', 'Second?']);
    expect(reports().map(({ data }) => data)).toMatchObject([
      { moved: 2, summarized: 0, bufferTokens: 20, summaryTokens: 0, failure: { code } },
    ]);
    expect(reports()[0]?.message).toMatch(/^2 messages moved to the buffer; no summary could be made, and the buffer stays as it is: ./);
  });

  test('is tried again before the next step, with all that has come since', async () => {
    const script = { answers, summaries: [{ error: new RateLimitedError('429') }, says('All of it.')] };
    const { say, start, summarizer } = setUp(script, bounds);
    const two = await say(await say(start, 'First?'), 'Second?');
    const end = await say(roundTrip(two), 'Third?');
    expect(summarizer.calls[1]?.messages[1]?.text).toBe(
      'The conversation:\n\nuser: First?\n\nassistant: One.\n\nuser: Second?\n\nassistant: Two.',
    );
    expect(getSections(end)).toStrictEqual({ summary: [summary('All of it.')], buffer: [], messages: ['Third?', 'Three.'] });
  });

  test('leaves the old summary in its place', async () => {
    const script = { answers, summaries: [says('Old things.'), { error: new Error('broken') }] };
    const { say, start, model } = setUp(script, bounds);
    const two = await say(await say(start, 'First?'), 'Second?');
    const end = await say(two, 'Third?');
    expect(getSections(end).summary).toStrictEqual([summary('Old things.')]);
    expect(readBy(model.calls[2])).toStrictEqual([summary('Old things.'), 'Second?', 'Two.', 'Third?']);
  });

  test('counts what it used all the same', async () => {
    const script = { answers, summaries: [{ error: new Error('broken'), usage: { input: 100, output: 0 } }] };
    const { say, start } = setUp(script, bounds);
    const end = await say(await say(start, 'First?'), 'Second?');
    expect(end.usage.total).toBe(115);
  });

  test('because its output was used up is kept as far as it goes, and that is said', async () => {
    const script = { answers, summaries: [{ text: 'They gre', finishReason: 'length', usage }] };
    const { say, start, reports } = setUp(script, bounds);
    const end = await say(await say(start, 'First?'), 'Second?');
    expect(getSections(end).summary).toStrictEqual([summary('They gre')]);
    expect(reports()[0]?.message).toMatch(/; the summary was cut short at its limit$/);
  });
});

describe('a run that is cut off while its summary is made', () => {
  const bounds = { maxTokens: 10, maxBufferTokens: 15 };
  const script = { answers: [says('One.'), says('Two.')], summaries: [never, says('They greeted.')] };

  async function runInterrupted(more: Given, cut: (given: ReturnType<typeof setUp>) => Promise<void>) {
    const given = setUp(script, bounds, more);
    const { say, start, run, ids, clock } = given;
    const before = (await say(start, 'First?')).withUserMessage('Second?', { ids });
    const underWay = run(before);
    await clock.advance(0);
    expect(given.summarizer.calls).toHaveLength(1);
    await cut(given);
    return { ...given, before, end: await underWay };
  }

  test.each<[string, Given, string, (given: ReturnType<typeof setUp>) => Promise<void>]>([
    ['by its host', {}, 'user_requested', async ({ host }) => host.abort('enough')],
    ['by its time limit', { limits: { wallMs: 1000 } }, 'time_limit', ({ clock }) => clock.advance(1000)],
  ])('%s keeps the conversation as it was, and says so', async (_, more, stopReason, cut) => {
    const { before, end, model, reports, clock, problems } = await runInterrupted(more, cut);
    expect([end.status, end.stopReason, end.errors, model.calls.length]).toStrictEqual(['stopped', stopReason, [], 1]);
    expect(end.store.toJSON()).toStrictEqual(before.store.toJSON());
    expect(roundTrip(end).store.toJSON()).toStrictEqual(before.store.toJSON());
    // What the summary used until then is not known.
    expect(end.usage).toStrictEqual(Usage.unknown());
    expect(reports().map(({ message, data }) => [message, data])).toMatchObject([
      [
        'the run was interrupted before the summary was there, and nothing has changed',
        { moved: 0, movedTokens: 0, summarized: 0, bufferTokens: 0, failure: { code: 'cancelled' } },
      ],
    ]);
    expect([clock.pendingTimers(), problems]).toStrictEqual([0, []]);
  });

  test('folds the same messages when the conversation goes on', async () => {
    const { end, summarizer, agent, ids } = await runInterrupted({}, async ({ host }) => host.abort('enough'));
    const next = await agent.run(roundTrip(end).withUserMessage('Third?', { ids }));
    expect(summarizer.calls[1]?.messages[1]?.text).toBe('The conversation:\n\nuser: First?\n\nassistant: One.\n\nuser: Second?');
    expect(getSections(next)).toStrictEqual({ summary: [summary('They greeted.')], buffer: [], messages: ['Third?', 'Two.'] });
  });
});

describe('it works', () => {
  test('on ToolUse', async () => {
    const [clock, ids] = [createFakeClock(), createCountingIds()];
    const model = scriptedModel([calls('look'), calls('look'), says('Done.')]);
    const capabilities = [
      compaction({ model: scriptedModel([says('Looked.')]), countTokens: () => 10, maxTokens: 20, maxBufferTokens: 15 }),
    ];
    const orchestrator = new ToolUse({ model, tools: [look], capabilities, ports: { clock, ids } });
    const end = await orchestrator.run(ToolUseState.empty({ clock, ids }).withUserMessage('Look.', { ids }));
    expect([end.status, end.usage.total]).toStrictEqual(['completed', 60]);
    expect(readBy(model.calls[2])).toStrictEqual([summary('Looked.'), 'Look.', 'calls 1', 'results 1']);
    expect(ToolUseState.fromJSON(JSON.parse(JSON.stringify(end))).steps).toStrictEqual(end.steps);
  });

  test('on a model that decides in JSON, whose observations stay with its actions', async () => {
    const decides = (type: string, more: object): ScriptedEntry => ({
      text: JSON.stringify({ thought: '', type, tool: null, args: null, answer: null, ...more }),
      usage,
    });
    const act = decides('call_tool', { tool: 'look', args: '{}' });
    const script = { answers: [act, act, decides('final_answer', { answer: 'Done.' })], summaries: [says('Looked.')] };
    const { say, start, model } = setUp(script, { maxTokens: 30, maxBufferTokens: 15 }, { driver: reActDriver() });
    const end = await say(start, 'Look.');
    expect(end.status).toBe('completed');
    expect(readBy(model.calls[2]).slice(1)).toStrictEqual([summary('Looked.'), 'Look.', 'Action: look {}', 'Observation: seen']);
    expect(roundTrip(end).steps).toStrictEqual(end.steps);
  });

  test('on any state that a chain of hooks is asked about', async () => {
    const [clock, ids] = [createFakeClock(), createCountingIds()];
    const { hooks = [] } = compaction({
      model: scriptedModel([says('They talked.')]),
      countTokens: () => 10,
      maxTokens: 10,
      maxBufferTokens: 15,
    });
    const chain = new HookChain({ name: 'talk', hooks, price: undefined, watchesCost: false });
    const read: (readonly string[])[] = [];
    const talk = createStepByStep<ScriptedState>(
      {
        name: 'talk',
        criteria: ContinuationCriteria.from(new StepsLimit<ScriptedState>(1, ({ stepCount }) => stepCount)),
        produce: async (state, scope) => {
          const changed = await chain.beforeStep({ state, scope }, []);
          read.push(listTexts(changed.state.messagesForInference));
          const outputMessages = [Message.assistant('Well.', { ids })];
          return { type: 'step', step: { id: ids(), outputMessages, usage: Usage.none(), errors: [], answers: [] } };
        },
        emptyStep: (facts) => ({ ...facts, outputMessages: [], usage: Usage.none(), answers: [] }),
      },
      { clock, ids },
    );
    const one = await talk.run(ScriptedState.empty({ clock, ids }).withUserMessage('First?', { ids }));
    const two = await talk.run(one.withUserMessage('Second?', { ids }));
    expect(read).toStrictEqual([['First?'], [summary('They talked.'), 'Second?']]);
    expect([getSections(two).messages, two.usage.total]).toStrictEqual([['Second?', 'Well.'], 15]);
  });

  test('as a capability by its name, with one hook that may change the conversation and nothing else', () => {
    const { agent } = setUp({ answers: [] });
    expect(agent.describe().hooks).toStrictEqual([
      { name: 'compaction', order: 0, points: ['before_step'], changes: ['conversation'], from: 'compaction' },
    ]);
  });
});

describe('options', () => {
  const model = scriptedModel([]);
  const known = 'Valid options: model, contextWindow, maxTokens, maxBufferTokens, maxSummaryTokens, countTokens, instructions.';
  test.each<[unknown, string]>([
    [undefined, `compaction() needs an object of options, not undefined. ${known}`],
    [
      {},
      'compaction() needs a model. Pass aiSdk(openai("gpt-5")), for example, with aiSdk from "stepline/ai-sdk" and openai from "@ai-sdk/openai".',
    ],
    [
      { model: 'gpt' },
      'compaction(): model must be a model object, not "gpt". Pass aiSdk(openai("gpt-5")), for example, with aiSdk from "stepline/ai-sdk" and openai from "@ai-sdk/openai".',
    ],
    [{ model, maxToken: 5 }, 'Unknown option "maxToken" in compaction(). Did you mean "maxTokens"?'],
    [{ model, maxTokens: 0 }, 'compaction(): maxTokens must be a whole number of 1 or more, not 0.'],
    [{ model, maxTokens: 1.5 }, 'compaction(): maxTokens must be a whole number of 1 or more, not 1.5.'],
    [{ model, maxTokens: '4096' }, 'compaction(): maxTokens must be a whole number of 1 or more, not "4096".'],
    [{ model, maxBufferTokens: -1 }, 'compaction(): maxBufferTokens must be a whole number of 1 or more, not -1.'],
    [{ model, maxSummaryTokens: Number.NaN }, 'compaction(): maxSummaryTokens must be a whole number of 1 or more, not NaN.'],
    [{ model, countTokens: 4 }, 'compaction(): countTokens must be a function, not 4.'],
    [{ model, instructions: 4 }, 'compaction(): instructions must be a string, not 4.'],
  ])('%j are refused: %s', (options, message) => {
    expect(() => compaction(options as CompactionOptions)).toThrow(new InvalidArgumentError(message));
  });

  test('that count with something else than numbers fail the step, by name', async () => {
    const { say, start } = setUp({ answers: [says('Never.')] }, { countTokens: () => Number.NaN });
    const end = await say(start, 'Hello?');
    expect(end.status).toBe('failed');
    expect(end.errors[0]).toMatchObject({
      code: 'hook-failed',
      message: 'Hook "compaction" failed at before_step: countTokens() of compaction() must return a number of 0 or more, not NaN.',
    });
  });

  test('that count are asked once for each message', async () => {
    const counted: string[] = [];
    const countTokens = ({ text }: Message): number => (counted.push(text), 10);
    const { say, start } = setUp({ answers: [says('One.'), says('Two.')] }, { countTokens });
    await say(await say(start, 'First?'), 'Second?');
    expect(counted).toStrictEqual(['First?', 'One.', 'Second?']);
  });
});
