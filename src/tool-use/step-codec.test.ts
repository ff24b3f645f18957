import type { Effects } from '../effects/index.ts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pickRuns } from '../../tests/support/test-scale.ts';
import { z } from 'zod';
import { ErrorPolicy, ToolFailedError } from '../errors/index.ts';
import type { Json } from '../lib/index.ts';
import { createCountingIds, createFakeClock, DamagedDataError } from '../lib/index.ts';
import type { ScriptedAnswer, ScriptedEntry, ScriptedToolCall } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import type { ToolExecutionStatus, Tools } from '../tools/index.ts';
import { defineClientTool, defineTool } from '../tools/index.ts';
import type { ToolUseOptions } from './index.ts';
import { reActDriver, ToolUse, ToolUseState } from './index.ts';

const anything = z.looseObject({});

const long = defineTool({ name: 'long', description: 'Long.', input: { type: 'object', properties: {} }, run: () => 'z'.repeat(60_000) });
const gives = (value: unknown) =>
  defineTool({
    name: 'gives',
    description: 'Gives a value.',
    input: anything,
    effect: 'pure',
    maxResultChars: Infinity,
    run: (): unknown => value,
  });
const shows = (value: unknown, shown: Json) =>
  defineTool({
    name: 'gives',
    description: 'Gives a value and shows another.',
    input: anything,
    effect: 'pure',
    run: (): unknown => value,
    toModelOutput: () => shown as never,
  });
const fails = defineTool({
  name: 'fails',
  description: 'Fails.',
  input: anything,
  run: (): string => {
    throw new ToolFailedError('It is broken.');
  },
});
const gated = defineTool({ name: 'gated', description: 'Needs a yes.', input: anything, needsApproval: true, run: (args) => ({ args }) });
const client = defineClientTool({ name: 'client', description: 'Somebody else does it.', input: anything });

type Options = Partial<Omit<ToolUseOptions<ToolUseState>, 'model' | 'tools'>>;

function setUp(script: readonly ScriptedEntry[], tools: Tools, options: Options = {}) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const errors = ErrorPolicy.ignoreToolErrors();
  const orchestrator = new ToolUse({ model: scriptedModel(script), tools, errors, ports: { clock, ids }, ...options });
  const start = ToolUseState.empty({ clock, ids }).withUserMessage('Go.', { ids });
  return { orchestrator, start };
}

const calls = (...toolCalls: readonly ScriptedToolCall[]): ScriptedAnswer => ({ toolCalls, usage: { input: 3, output: 2 } });
const done: ScriptedAnswer = { text: 'Done.', usage: { input: 5, output: 1 } };

function expectSameAfterStorage(state: ToolUseState): void {
  const stored: unknown = JSON.parse(JSON.stringify(state));
  const read = ToolUseState.fromJSON(stored);
  expect(JSON.parse(JSON.stringify(read))).toStrictEqual(stored);
  expect(read.steps).toStrictEqual(state.steps);
  expect(read.pendingStep).toStrictEqual(state.pendingStep);
  expect(read.session.executions.map(({ results }) => results.toArray())).toStrictEqual(
    state.session.executions.map(({ results }) => results.toArray()),
  );
  expect(read.output).toStrictEqual(state.output);
}

const interruptEffects = (direct: Effects): Effects => ({
  ...direct,
  run: async (key, work, options) =>
    key.startsWith('tool/')
      ? { ok: false, kind: 'unknown', type: 'unknown', code: 'cut-off', message: 'Nobody saw its end.', retryable: false }
      : direct.run(key, work, options),
});

describe('each status of a call is stored and read again', () => {
  const finalize = { steps: 1, onLimit: 'finalize' } as const;

  test.each<[ToolExecutionStatus, () => Promise<ToolUseState>]>([
    ['succeeded', () => ran(setUp([calls({ name: 'gives', args: { n: 1 } }), done], [gives({ n: 1 })]))],
    ['failed', () => ran(setUp([calls({ name: 'fails' }), done], [fails]))],
    ['failed', () => ran(setUp([calls({ name: 'nobody' }), done], [fails]))],
    ['failed', () => ran(setUp([calls({ name: 'fails', args: '{"a":' }), done], [fails]))],
    [
      'rejected',
      async () => {
        const { orchestrator, start } = setUp([calls({ name: 'gated' }), done], [gated]);
        return orchestrator.run((await orchestrator.run(start)).reject('call-1', 'not today'));
      },
    ],
    [
      'rejected',
      async () => {
        const { orchestrator, start } = setUp([calls({ name: 'gated' }), done], [gated]);
        return (await orchestrator.run(start)).withUserMessage('Forget it.');
      },
    ],
    [
      'cancelled',
      () => ran(setUp([calls({ name: 'gives' }), { ...done, toolCalls: [{ name: 'gives' }] }], [gives(1)], { limits: finalize })),
    ],
    [
      'unknown',
      async () => {
        const { orchestrator, start } = setUp([calls({ name: 'gated' }), done], [gated]);
        return orchestrator.run((await orchestrator.run(start)).approve('call-1'), { effects: interruptEffects });
      },
    ],
  ])('%s', async (status, make) => {
    const state = await make();
    const executions = state.session.executions.flatMap(({ results }) => results.toArray()).flatMap(({ step }) => step.executions);
    expect(executions.at(-1)?.status).toBe(status);
    expectSameAfterStorage(state);
  });

  const ran = ({ orchestrator, start }: ReturnType<typeof setUp>): Promise<ToolUseState> => orchestrator.run(start);
});

describe('a result is stored and read again', () => {
  test.each<[string, unknown, Json?]>([
    ['an object', { deep: [1, { a: null }] }],
    ['a text', 'sunny'],
    ['an empty text, of which the model reads a word', ''],
    ['null', null],
    ['nothing', undefined],
    ['false', false],
    ['0', 0],
    ['a list', []],
    ['a value of which the model is shown a text', { rows: [1, 2] }, 'two rows'],
    ['a text of which the model is shown an object', 'two rows', { rows: [1, 2] }],
    ['null of which the model is shown a text', null, 'nothing was found'],
    ['nothing of which the model is shown an object', undefined, { found: 0 }],
    ['a value of which the model is shown null', { a: 1 }, null],
    ['a value of which the model is shown nothing', { a: 1 }, ''],
    ['a value of which the model is shown parts', { a: 1 }, [{ type: 'text', text: 'a is 1' }]],
  ])('%s', async (_, value, shown) => {
    const { orchestrator, start } = setUp([calls({ name: 'gives' }), done], [shown === undefined ? gives(value) : shows(value, shown)]);
    const end = await orchestrator.run(start);
    expect(end.steps[0]!.executions[0]).toMatchObject({ status: 'succeeded', value: value ?? null });
    expectSameAfterStorage(end);
  });
});

describe('a final answer is stored and read again', () => {
  test.each<[string, z.ZodType]>([
    ['{"a":1}', z.object({ a: z.number() })],
    ['null', z.null()],
    ['false', z.boolean()],
    ['[]', z.array(z.number())],
  ])('%s', async (text, output) => {
    const { orchestrator, start } = setUp([{ text }], [], { output: output as never });
    const end = await orchestrator.run(start);
    expect(end.output).toStrictEqual(JSON.parse(text));
    expectSameAfterStorage(end);
  });
});

describe('a step that waits is stored and read again', () => {
  const script = [calls({ name: 'gives' }, { name: 'fails' }, { name: 'gated', args: { n: 1 } }, { name: 'client' }), done];
  const tools = [gives({ n: 1 }), fails, gated, client];

  test('with what has ended, and with the answers', async () => {
    const { orchestrator, start } = setUp(script, tools);
    const waiting = await orchestrator.run(start);
    expect(waiting.pendingStep?.partial.executions.map(({ status }) => status)).toStrictEqual(['succeeded', 'failed']);
    expectSameAfterStorage(waiting);
    const edited = waiting.approve('call-3', { args: { n: 2 } });
    expectSameAfterStorage(edited);
    const partly = await orchestrator.run(edited);
    expect([partly.status, partly.pendingStep?.partial.executions.length]).toStrictEqual(['waiting', 3]);
    expectSameAfterStorage(partly);
    const end = await orchestrator.run(partly.answer('call-4', { clicked: true }));
    expect(end.steps[0]!.executions.map(({ status }) => status)).toStrictEqual(['succeeded', 'failed', 'succeeded', 'succeeded']);
    expect(end.steps[0]!.executions[2]).toMatchObject({ args: { n: 2 }, value: { args: { n: 2 } } });
    expectSameAfterStorage(end);
  });

  test('with several answers at once, of every kind', async () => {
    const { orchestrator, start } = setUp(script, tools);
    const waiting = await orchestrator.run(start);
    expectSameAfterStorage(waiting.reject('call-3', 'no').answer('call-4', null));
    expectSameAfterStorage(await orchestrator.run(waiting.reject('call-3', 'no').answer('call-4', null)));
  });
});

test('steps of a model that decides in JSON are stored and read again', async () => {
  const script = [
    { text: '{"thought":"t","type":"call_tool","tool":"gives","args":"{}"}' },
    { text: 'hm' },
    { text: '{"thought":"t","type":"call_tool","tool":"fails","args":"{\\"n\\":1}"}' },
    { text: '{"thought":"t","type":"final_answer","answer":"Done."}' },
  ];
  const { orchestrator, start } = setUp(script, [gives({ n: 1 }), fails], { driver: reActDriver(), limits: { steps: 9 } });
  const end = await orchestrator.run(start);
  expect([end.status, end.stepCount]).toStrictEqual(['completed', 4]);
  expectSameAfterStorage(end);
});

describe('what was damaged is refused, and it says where', () => {
  type Fields = Record<string, unknown>;
  interface Stored {
    execution: { results: { fields: Fields & { executions: Fields[] } }[] };
  }
  const damageField = async (damage: (fields: Fields & { executions: Fields[] }) => void): Promise<unknown> => {
    const { orchestrator, start } = setUp([calls({ name: 'gives' }), done], [shows(1, 'one')]);
    const stored = JSON.parse(JSON.stringify(await orchestrator.run(start))) as { data?: Stored } & Stored;
    damage((stored.data ?? stored).execution.results[0]!.fields);
    return stored;
  };

  test.each<[string, (fields: Fields & { executions: Fields[] }) => void, RegExp]>([
    ['an unknown type of step', (fields) => (fields['stepType'] = 'nap'), /stepType.*expected one of/],
    ['an unknown status', ({ executions }) => (executions[0]!['status'] = 'asleep'), /status.*expected one of/],
    [
      'no id where there is no call to have it from',
      (fields) => fields.executions.push({ startedAt: 0, durationMs: 0 }),
      /executions\[1\].*expected an id/,
    ],
    ['an id that is none', ({ executions }) => (executions[0]!['id'] = 5), /executions\[0\]\.id/],
    ['no times', ({ executions }) => delete executions[0]!['startedAt'], /executions\[0\]\.startedAt/],
    ['observed in an unknown way', ({ executions }) => (executions[0]!['observedAs'] = 5), /observedAs/],
    ['executions that are none', (fields) => (fields['executions'] = ['done'] as never), /executions\[0\]/],
    ['calls that are none', (fields) => (fields['toolCalls'] = [{ id: 'call-1' }]), /toolCalls\[0\]\.name/],
    ['a call that nobody made', ({ executions }) => (executions[0]!['id'] = 'call-9'), /executions\[0\].*here or in the step's messages/],
    ['a failure that nobody had', ({ executions }) => (executions[0]!['status'] = 'failed'), /expected a failure, here or in/],
  ])('%s', async (_, damage, words) => {
    const stored = await damageField((fields) => {
      damage(fields);
    });
    expect(() => ToolUseState.fromJSON(stored)).toThrow(DamagedDataError);
    expect(() => ToolUseState.fromJSON(stored)).toThrow(words);
  });
});

test('a result that the model reads cut is kept whole, and is the same after storage', async () => {
  const { orchestrator, start } = setUp([calls({ name: 'long' }), done], [long]);
  const end = await orchestrator.run(start);
  const [execution] = end.steps[0]?.executions ?? [];
  expect(execution).toMatchObject({ value: 'z'.repeat(60_000), output: { type: 'text' } });
  expect(end.messages.toArray().find((message) => message.isTool())?.toolResults[0]?.output).toStrictEqual(execution?.output);
  expectSameAfterStorage(end);
});

describe('nothing is written twice', () => {
  const size = 100_000;
  const big = 'x'.repeat(size);
  const many = Array.from({ length: size / 100 }, (_, index) => ({ index: String(index).padStart(6, '0'), text: 'y'.repeat(64) }));
  const decides = (decision: object): ScriptedAnswer => ({ text: JSON.stringify(decision) });
  const output = z.object({ text: z.string() });

  test.each<[string, () => ReturnType<typeof setUp>]>([
    ['a result that is text', () => setUp([calls({ name: 'gives' }), done], [gives(big)])],
    ['a result that is an object', () => setUp([calls({ name: 'gives' }), done], [gives({ many })])],
    ['the arguments of a call', () => setUp([calls({ name: 'gives', args: { big } }), done], [gives(1)])],
    ['the arguments of a call that failed', () => setUp([calls({ name: 'fails', args: { big } }), done], [fails])],
    ['the result of a call beside one that waits', () => setUp([calls({ name: 'gives' }, { name: 'gated' }), done], [gives(big), gated])],
    ['a final answer', () => setUp([{ text: big }], [])],
    ['a final answer as JSON', () => setUp([{ text: JSON.stringify({ text: big }) }], [], { output })],
    [
      'a result that a model observes in plain words',
      () =>
        setUp([decides({ type: 'call_tool', tool: 'gives' }), decides({ type: 'final_answer', answer: 'Done.' })], [gives(big)], {
          driver: reActDriver(),
        }),
    ],
  ])('%s of 100 kB takes less than 120 kB', async (_, make) => {
    const { orchestrator, start } = make();
    const end = await orchestrator.run(start);
    const written = JSON.stringify(end).length;
    expect(end.status).toMatch(/completed|waiting|failed/);
    expect(written).toBeGreaterThan(size * 0.9);
    expect(written).toBeLessThan(size * 1.2);
    expectSameAfterStorage(end);
  });
});

describe('any run', () => {
  const numRuns = pickRuns({ quick: 50, slow: 1000 });
  const value: fc.Arbitrary<Json> = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
  const usage = fc.option(fc.record({ input: fc.nat(500), output: fc.nat(500), cacheRead: fc.nat(5) }), { nil: undefined });
  const args = fc.oneof(fc.dictionary(fc.string(), value, { maxKeys: 3 }), fc.constantFrom('{"broken":', '', '[1]'));
  const call: fc.Arbitrary<ScriptedToolCall> = fc.record({
    name: fc.constantFrom('gives', 'shows', 'fails', 'gated', 'client', 'nobody'),
    args: args,
  });
  const entry: fc.Arbitrary<ScriptedAnswer> = fc
    .record({ text: fc.option(fc.string(), { nil: undefined }), toolCalls: fc.array(call, { maxLength: 4 }), usage })
    .map(({ text, toolCalls, usage: used }) => ({
      toolCalls,
      ...(text !== undefined && { text }),
      ...(used !== undefined && { usage: used }),
    }));
  const settling = fc.constantFrom('approve', 'edit', 'reject', 'leave', 'supersede');
  const policy = fc.constantFrom(ErrorPolicy.ignoreToolErrors(), ErrorPolicy.retryToolErrors(3), ErrorPolicy.stopOnAnyError());

  const answerOne = (waiting: ToolUseState, how: string): ToolUseState => {
    if (how === 'supersede') return waiting.withUserMessage('Something else.');
    return waiting.waitingFor.reduce((state, wait, index) => {
      if (how === 'leave' && index > 0) return state;
      if (how === 'reject') return state.reject(wait.id, 'no');
      if (wait.type !== 'approval') return state.answer(wait.id, { index });
      return state.approve(wait.id, how === 'edit' ? { args: { edited: index } } : {});
    }, waiting);
  };

  test('is the same after it was stored, at every step and every wait', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          script: fc.array(entry, { minLength: 1, maxLength: 6 }),
          values: fc.tuple(value, value, value),
          hows: fc.array(settling, { minLength: 4, maxLength: 4 }),
          errors: policy,
          price: fc.boolean(),
        }),
        async ({ script, values, hows, errors, price }) => {
          const shown = { ...shows(values[1], values[2]), name: 'shows' };
          const { orchestrator, start } = setUp(script, [gives(values[0]), shown, fails, gated, client], {
            errors,
            limits: { steps: 6, tokens: 100_000, onLimit: 'finalize' },
            ...(price && { price: ({ total }) => (total > 300 ? undefined : { usd: total / 7 }) }),
          });
          let state = start;
          for (const how of hows) {
            for await (const next of orchestrator.iterate(state)) {
              expectSameAfterStorage(next);
              state = next;
            }
            if (state.status !== 'waiting') break;
            state = answerOne(state, how);
            expectSameAfterStorage(state);
          }
        },
      ),
      { numRuns },
    );
  });
});
