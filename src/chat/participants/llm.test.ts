import { describe, expect, test } from 'vitest';
import { ModelFailedError } from '../../errors/index.ts';
import { createCountingIds, createFakeClock, InvalidArgumentError } from '../../lib/index.ts';
import type { ModelRequest } from '../../inference/index.ts';
import type { ScriptedEntry } from '../../testing/index.ts';
import { scriptedModel } from '../../testing/index.ts';
import { defineContext, defineTool } from '../../tools/index.ts';
import type { LlmParticipantOptions } from '../index.ts';
import { ChatState, createChat, llmParticipant, scriptedParticipant } from '../index.ts';

const [clock, ids] = [createFakeClock(), createCountingIds()];
const ports = { clock, ids };
const begin = (text = 'How big is it?'): ChatState => ChatState.empty({ clock, ids }).withUserMessage(text, { ids });
const usage = { input: 3, output: 1 };
const schema = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] } as const;
const add = defineTool({
  name: 'add',
  description: 'Adds.',
  input: schema,
  run: (args) => {
    const { a, b } = args as { a: number; b: number };
    return a + b;
  },
});
const calling = (args: { a: number; b: number }, text?: string): ScriptedEntry => ({
  toolCalls: [{ name: 'add', args }],
  usage,
  ...(text !== undefined && { text }),
});

function setUp(script: readonly ScriptedEntry[], more: Partial<LlmParticipantOptions> = {}) {
  const model = scriptedModel(script);
  const eve = llmParticipant({ name: 'eve', model, ...more });
  const chat = createChat({ participants: [eve, scriptedParticipant({ name: 'max', says: ['Hm.'] })], ports });
  return { chat, model };
}
const read = (request: ModelRequest | undefined) => request?.messages.map(({ role, text }) => `${role}: ${text}`) ?? [];

describe('a model that takes part', () => {
  test('says one message under its name, as the assistant', async () => {
    const { chat } = setUp([{ text: 'Very big.', reasoning: 'let me see', usage }]);
    const state = await chat.nextStep(begin());
    const said = state.messages.at(-1);
    expect([said?.role, said?.name, said?.text, said?.metadata]).toStrictEqual(['assistant', 'eve', 'Very big.', { turn: true }]);
    expect(said?.parts.map(({ type }) => type)).toStrictEqual(['text']);
    expect([state.usage.total, state.currentStep?.finishReason]).toStrictEqual([4, 'stop']);
    expect(state.currentStep?.inner).toMatchObject({
      orchestrator: 'tool-use',
      status: 'completed',
      stopReason: 'completed',
      stepCount: 1,
    });
  });

  test('reads its own instructions first, and is told under which name it speaks and with whom', async () => {
    const { chat, model } = setUp([{ text: 'Big.' }], { instructions: 'You are short.' });
    await chat.nextStep(begin());
    const [system, ...others] = model.calls[0]?.messages ?? [];
    expect(system?.role).toBe('system');
    for (const part of ['You are short.', 'eve', 'max']) expect(system?.text).toContain(part);
    expect(system?.text.indexOf('You are short.')).toBe(0);
    expect(others.map(({ role, text }) => `${role}: ${text}`)).toStrictEqual(['user: How big is it?']);
  });

  test('is told nothing of the sort where the host does not want it', async () => {
    const { chat, model } = setUp([{ text: 'Big.' }], { instructions: 'You are short.' });
    await chat.with({ introduce: false }).nextStep(begin());
    expect(read(model.calls[0])).toStrictEqual(['system: You are short.', 'user: How big is it?']);
  });

  test('reads its own words as the assistant, and those of others with their names', async () => {
    const { chat, model } = setUp([{ text: 'Big.' }, { text: 'Bigger.' }]);
    const first = await chat.run(begin());
    await chat.run(first.withUserMessage('Sure?', { ids }));
    expect(read(model.calls[1]).slice(1)).toStrictEqual(['user: How big is it?', 'assistant: Big.', 'user: [max] Hm.', 'user: Sure?']);
  });

  test.each([
    { what: 'no text', entry: { text: '', usage } },
    { what: 'blanks', entry: { text: ' \n ', usage } },
    { what: 'thoughts alone', entry: { reasoning: 'hm', usage } },
  ])('with $what has said nothing: its turn failed, once, and the tokens count', async ({ entry }) => {
    const { chat } = setUp([entry]);
    const end = await chat.run(begin());
    expect([end.status, end.stepResults.length, end.participant, end.errors.map(({ code, type }) => [code, type])]).toStrictEqual([
      'failed',
      1,
      'eve',
      [['empty-response', 'model']],
    ]);
    expect([end.messages.length, end.usage.total]).toStrictEqual([1, 4]);
  });

  test('falls back to another model within its turn', async () => {
    const { chat } = setUp([{ error: new ModelFailedError('down') }], { fallback: [scriptedModel([{ text: 'From the second.' }])] });
    expect((await chat.nextStep(begin())).text).toBe('From the second.');
  });
});

describe('a model with tools', () => {
  test('runs them inside its turn: one message for the others, all usage counted, the way kept on the step', async () => {
    const { chat } = setUp([calling({ a: 2, b: 3 }, 'Let me count.'), calling({ a: 5, b: 1 }), { text: 'It is 6.', usage }], {
      tools: [add],
    });
    const state = await chat.nextStep(begin());
    expect(state.transcript).toStrictEqual([{ text: 'How big is it?' }, { speaker: 'eve', text: 'It is 6.' }]);
    expect(state.messages.toArray().every(({ toolCalls, toolResults }) => toolCalls.length + toolResults.length === 0)).toBe(true);
    expect([state.usage.input, state.usage.output, state.stepCount]).toStrictEqual([9, 3, 1]);
    const { inner } = state.currentStep ?? {};
    expect(inner).toMatchObject({
      orchestrator: 'tool-use',
      stepCount: 3,
      status: 'completed',
      stopReason: 'completed',
      calls: [
        { tool: 'add', status: 'succeeded' },
        { tool: 'add', status: 'succeeded' },
      ],
    });
    expect(inner?.outcome?.shouldContinue).toBe(false);
    expect(state.explain()).toContain('tool-use');
  });

  test('has a failed turn where its own limit leaves a call unread, whatever it said before; the numbers are told', async () => {
    const { chat } = setUp([calling({ a: 1, b: 1 }, 'I begin with 2.'), calling({ a: 1, b: 1 })], { tools: [add], limits: { steps: 2 } });
    const state = await chat.nextStep(begin());
    expect([state.messages.at(-1)?.text, state.currentStep?.inner?.stopReason]).toStrictEqual(['How big is it?', 'steps_limit']);
    expect(state.errors).toMatchObject([
      { code: 'turn-incomplete', type: 'model', retryable: false, message: expect.stringMatching(/eve.*StepsLimit.*2 of 2/) as string },
    ]);
    expect(state.currentStep?.inner?.outcome?.resolvedBy).toBe('StepsLimit');
  });

  test('that never comes to words has a failed turn which says why', async () => {
    const { chat } = setUp([calling({ a: 1, b: 1 }), calling({ a: 2, b: 2 })], { tools: [add], limits: { steps: 2 } });
    const end = await chat.run(begin());
    expect(end.errors).toMatchObject([{ code: 'turn-incomplete', message: expect.stringContaining('steps_limit') as string }]);
    expect([end.usage.total, end.participant, end.messages.length]).toStrictEqual([8, 'eve', 1]);
    expect(end.currentStep?.inner?.calls).toHaveLength(2);
  });

  const slow = defineTool({
    name: 'add',
    description: 'A tool.',
    input: schema,
    effect: 'pure',
    run: () => new Promise<number>(() => undefined),
  });
  test.each([
    { what: 'while its call is under way', tool: slow, script: [calling({ a: 1, b: 1 }, 'Let me count.')] },
    {
      what: 'while it reads what its call gave',
      tool: add,
      script: [calling({ a: 1, b: 1 }, 'Let me count.'), (): Promise<never> => new Promise(() => undefined)],
    },
  ])('whose own time runs out $what has a failed turn of that kind, whatever it said before', async ({ tool, script }) => {
    const { chat } = setUp(script, { tools: [tool], limits: { wallMs: 500 } });
    const run = chat.run(begin());
    await clock.advance(2000);
    const end = await run;
    expect([end.steps[0]?.inner?.stopReason, end.status, end.participant, end.messages.length]).toStrictEqual([
      'time_limit',
      'failed',
      'eve',
      1,
    ]);
    expect(end.errors).toMatchObject([{ type: 'timeout', code: 'timed-out', message: expect.stringContaining('eve') as string }]);
  });

  test('whose own limit is reached with its last words has said them', async () => {
    const { chat } = setUp([calling({ a: 1, b: 1 }), { text: 'It is 2.', usage }], { tools: [add], limits: { steps: 2, tokens: 8 } });
    const state = await chat.nextStep(begin());
    expect([state.text, state.errors, state.currentStep?.unfinished]).toStrictEqual(['It is 2.', [], undefined]);
  });

  test('that sums up at its own limit has an answer', async () => {
    const { chat } = setUp([calling({ a: 1, b: 1 }), { text: 'So far: 2.', usage }], {
      tools: [add],
      limits: { steps: 1, onLimit: 'finalize' },
    });
    const state = await chat.nextStep(begin());
    expect([state.text, state.errors]).toStrictEqual(['So far: 2.', []]);
  });

  test('has no limit of tokens of its own', async () => {
    const much = { input: 60_000, output: 10 };
    const { chat } = setUp(
      [
        { toolCalls: [{ name: 'add', args: { a: 1, b: 1 } }], usage: much },
        { text: '2', usage: much },
      ],
      { tools: [add] },
    );
    const state = await chat.with({ limits: { tokens: Infinity } }).nextStep(begin());
    expect([state.text, state.usage.total, state.errors]).toStrictEqual(['2', 120_020, []]);
  });

  test('is not asked past its own limit of steps, which is 8 unless told otherwise', async () => {
    const script = Array.from({ length: 12 }, (_, n) => calling({ a: n, b: n }, `step ${n}`));
    const { chat } = setUp(script, { tools: [add] });
    expect((await chat.nextStep(begin())).currentStep?.inner).toMatchObject({ stepCount: 8, stopReason: 'steps_limit' });
  });

  test.each([
    { what: 'goes back to the model', fails: 2, end: { status: 'completed' }, text: 'At last.' },
    { what: 'ends the turn at the third time in a row', fails: 3, end: { status: 'failed', stopReason: 'retry_limit' }, text: undefined },
  ])('a tool that fails $what', async ({ fails, end, text }) => {
    let failed = 0;
    const brittle = defineTool({
      name: 'add',
      description: 'A tool.',
      input: { type: 'object' },
      run: () => {
        if ((failed += 1) <= fails) throw new Error('jammed');
        return 1;
      },
    });
    const tries = [1, 2, 3].map((n) => calling({ a: n, b: n }));
    const { chat } = setUp([...tries, { text: 'At last.' }], { tools: [brittle] });
    const state = await chat.nextStep(begin());
    expect(state.currentStep?.inner).toMatchObject(end);
    expect(state.currentStep?.outputMessages[0]?.text).toBe(text);
  });

  test('keeps its calls from the other models', async () => {
    const other = scriptedModel([{ text: 'Right.' }]);
    const eve = llmParticipant({ name: 'eve', model: scriptedModel([calling({ a: 2, b: 2 }), { text: '4' }]), tools: [add] });
    await createChat({ participants: [eve, llmParticipant({ name: 'bob', model: other })], ports }).run(begin());
    expect(read(other.calls[0]).slice(1)).toStrictEqual(['user: How big is it?', 'user: [eve] 4']);
    expect(other.calls[0]?.tools ?? []).toStrictEqual([]);
  });

  test('gives its tools the context of the run, and refuses a run without one', async () => {
    const seen: unknown[] = [];
    const who = defineTool({
      name: 'who',
      description: 'Who?',
      input: { type: 'object' },
      context: defineContext<{ user: string }>(),
      run: (_, { context }) => {
        seen.push(context);
        return context.user;
      },
    });
    const eve = llmParticipant({ name: 'eve', model: scriptedModel([{ toolCalls: [{ name: 'who' }] }, { text: 'Ann.' }]), tools: [who] });
    const chat = createChat({ participants: [eve], ports });
    await chat.run(begin(), { context: { user: 'Ann' } });
    expect(seen).toStrictEqual([{ user: 'Ann' }]);
    await expect((chat.run as (state: ChatState) => Promise<unknown>)(begin())).rejects.toThrow(/eve needs a context/);
  });

  test('tells whether arguments would fit, before anybody approves them', async () => {
    const { chat } = setUp([], { tools: [add] });
    expect([
      await chat.checkArgs('add', { a: 1, b: 2 }),
      await chat.checkArgs('add', { a: 'x' }),
      await chat.checkArgs('no', {}),
    ]).toStrictEqual([undefined, expect.any(String), undefined]);
  });
});

describe('llmParticipant() refuses', () => {
  const model = scriptedModel([]);
  test.each([
    { what: 'nothing', options: undefined, says: /options/ },
    { what: 'no name', options: { model }, says: /name/ },
    { what: 'an empty name', options: { name: '', model }, says: /name/ },
    { what: 'a name with a blank', options: { name: 'a b', model }, says: /name/ },
    { what: 'a name with brackets', options: { name: '[a]', model }, says: /name/ },
    { what: 'a name that is too long', options: { name: 'a'.repeat(65), model }, says: /name/ },
    { what: 'a name that begins with a sign', options: { name: '-a', model }, says: /name/ },
    { what: 'a misspelt option', options: { name: 'a', model, instruction: 'x' }, says: /instruction/ },
    { what: 'an output, which belongs to whole runs', options: { name: 'a', model, output: {} }, says: /output/ },
    { what: 'a description that is no text', options: { name: 'a', model, description: 4 }, says: /description/ },
  ])('$what', ({ options, says }) => {
    expect(() => llmParticipant(options as never)).toThrow(InvalidArgumentError);
    expect(() => llmParticipant(options as never)).toThrow(says);
  });

  test.each([{ name: 'a' }, { name: 'a', model: {} }])('a model that is none, at the latest when the chat is made', (options) => {
    expect(() => createChat({ participants: [llmParticipant(options as never)] })).toThrow(InvalidArgumentError);
  });
});
