// What has become of a conversation with tools, as stores append it: C5 of the state codec with the steps of this room.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pickRuns } from '../../tests/support/test-scale.ts';
import { z } from 'zod';
import { ErrorPolicy, ToolFailedError } from '../errors/index.ts';
import type { Json } from '../lib/index.ts';
import { createCountingIds, createFakeClock, stableStringify, SteplineError } from '../lib/index.ts';
import { Message } from '../messages/index.ts';
import type { ScriptedAnswer, ScriptedEntry, ScriptedToolCall } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineClientTool, defineTool } from '../tools/index.ts';
import type { ToolUseOptions } from './index.ts';
import { reActDriver, ToolUse, ToolUseState } from './index.ts';

const numRuns = pickRuns({ quick: 30, slow: 1000 });
const { codec } = ToolUseState;

const anything = z.looseObject({});
const gives = defineTool({ name: 'gives', description: 'Gives what it got.', input: anything, effect: 'pure', run: (args) => args });
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

function setUp(script: readonly ScriptedEntry[], options: Options = {}) {
  const [clock, ids] = [createFakeClock(Date.UTC(2026, 0, 1)), createCountingIds()];
  const errors = ErrorPolicy.ignoreToolErrors();
  const tools = [gives, fails, gated, client];
  const model = scriptedModel(script, { repeatLast: true });
  const orchestrator = new ToolUse({ model, tools, errors, ports: { clock, ids, random: () => 0.5 }, ...options });
  const states = [ToolUseState.empty({ clock, ids }).withUserMessage('Go.', { ids })];
  const last = (): ToolUseState => states.at(-1)!;
  return {
    ids,
    states,
    last,
    clock,
    orchestrator,
    run: async (signal?: AbortSignal): Promise<void> => {
      states.push(await orchestrator.run(last(), { signal, commit: ({ state }) => void states.push(state) }));
    },
    add: (change: (state: ToolUseState) => ToolUseState): void => void states.push(change(last())),
  };
}
type Stage = ReturnType<typeof setUp>;

const usage = { input: 3, output: 2 };
const calls = (...toolCalls: readonly ScriptedToolCall[]): ScriptedAnswer => ({ toolCalls, usage });
const done: ScriptedAnswer = { text: 'Done.', usage: { input: 5, output: 1 } };
const reread = (state: ToolUseState): ToolUseState => codec.parse(codec.stringify(state));
/** Stored form, independent of the order of keys. */
const toStoredText = (state: ToolUseState): string => stableStringify(JSON.parse(codec.stringify(state)) as Json);
const throughJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

function expectPatched(states: readonly ToolUseState[]): void {
  let chained = reread(states[0]!);
  for (const [index, after] of states.entries()) {
    if (index === 0) continue;
    const before = states[index - 1]!;
    const change = throughJson(codec.diff(before, after));
    expect(toStoredText(codec.patch(reread(before), change))).toBe(toStoredText(after));
    chained = codec.patch(chained, change);
    expect(toStoredText(chained)).toBe(toStoredText(after));
    expect([chained.status, chained.explain(), chained.waitingFor]).toStrictEqual([after.status, after.explain(), after.waitingFor]);
  }
  expect(chained.steps).toStrictEqual(states.at(-1)!.steps);
}

function compactMessages(state: ToolUseState, keep: number): ToolUseState {
  const messages = state.store.section('messages');
  const summary = Message.system('Much was said.', { id: `summary-${messages.length}` });
  return state.evolve({
    store: state.store.withSection('summary', [summary]).withSection('messages', messages.slice(Math.max(0, messages.length - keep))),
  });
}

describe('each state of a run is made of the one before it', () => {
  const all = calls({ name: 'gives', args: { n: 1 } }, { name: 'fails' }, { name: 'gated', args: { n: 2 } }, { name: 'client' });

  test.each<[string, () => Stage, (stage: Stage) => Promise<void>]>([
    [
      'calls',
      () => setUp([calls({ name: 'gives', args: { n: 1 } }), calls({ name: 'gives' }, { name: 'gives' }), done]),
      (stage) => stage.run(),
    ],
    [
      'calls that fail',
      () => setUp([calls({ name: 'fails' }), calls({ name: 'nobody' }), calls({ name: 'fails', args: '{"a":' }), done]),
      (stage) => stage.run(),
    ],
    [
      'calls that are tried again',
      () => setUp([calls({ name: 'fails' })], { errors: ErrorPolicy.retryToolErrors(3).withBackoff({ baseMs: 0 }) }),
      (stage) => stage.run(),
    ],
    [
      'models that fail',
      () => setUp([calls({ name: 'gives' }), { error: { type: 'model', code: 'http-500', message: 'Broken.', retryable: false } }]),
      (stage) => stage.run(),
    ],
    [
      'waits, settled one by one',
      () => setUp([all, done]),
      async (stage) => {
        await stage.run();
        expect(stage.last().waitingFor).toHaveLength(2);
        stage.add((state) => state.approve('call-3', { args: { n: 3 } }));
        await stage.run();
        stage.add((state) => state.answer('call-4', { clicked: true }));
        await stage.run();
        expect(stage.last().status).toBe('completed');
      },
    ],
    [
      'a call that is refused',
      () => setUp([all, done]),
      async (stage) => {
        await stage.run();
        stage.add((state) => state.reject('call-3', 'no').answer('call-4', null));
        await stage.run();
      },
    ],
    [
      'calls that a new message closes',
      () => setUp([all, done]),
      async (stage) => {
        await stage.run();
        stage.add((state) => state.withUserMessage('Forget it.', { ids: stage.ids }));
        await stage.run();
      },
    ],
    [
      'calls that are cancelled',
      () => setUp([all, done]),
      async (stage) => {
        await stage.run();
        stage.add((state) => state.cancel('enough'));
        stage.add((state) => state.withUserMessage('Go on.', { ids: stage.ids }));
        await stage.run();
      },
    ],
    [
      'a limit that is granted more',
      () => setUp([calls({ name: 'gives' })], { limits: { steps: 2, onLimit: 'pause' } }),
      async (stage) => {
        await stage.run();
        stage.add((state) => state.grant({ steps: 2 }));
        await stage.run();
        stage.add((state) => state.reject(state.waitingFor[0]!.id, 'no'));
        await stage.run();
      },
    ],
    [
      'a limit that sums up',
      () => setUp([calls({ name: 'gives' })], { limits: { steps: 2, onLimit: 'finalize' } }),
      (stage) => stage.run(),
    ],
    [
      'prices, known and not',
      () =>
        setUp([calls({ name: 'gives' }), { toolCalls: [{ name: 'gives' }] }, done], {
          price: ({ total }) => (total > 5 ? undefined : { usd: total / 7 }),
          limits: { costUsd: 5 },
        }),
      (stage) => stage.run(),
    ],
    [
      'a run that is cut off',
      () => setUp([calls({ name: 'gives' }), done]),
      async (stage) => {
        await stage.run(AbortSignal.abort('cut'));
        stage.add((state) => state.withUserMessage('Again.', { ids: stage.ids }));
        await stage.run();
      },
    ],
    [
      'a conversation that is shortened',
      () => setUp([calls({ name: 'gives', args: { n: 1 } }), done]),
      async (stage) => {
        for (let turn = 0; turn < 3; turn += 1) {
          await stage.run();
          stage.add((state) => compactMessages(state, 3));
          stage.add((state) => state.withUserMessage('More.', { ids: stage.ids }).withMetadata('turn', turn));
        }
        await stage.run();
      },
    ],
    [
      'a model that decides in JSON',
      () =>
        setUp(
          [
            { text: '{"thought":"t","type":"call_tool","tool":"gives","args":"{}"}' },
            { text: 'hm' },
            { text: '{"thought":"t","type":"call_tool","tool":"fails","args":"{\\"n\\":1}"}' },
            { text: '{"thought":"t","type":"final_answer","answer":"Done."}' },
          ],
          { driver: reActDriver() },
        ),
      (stage) => stage.run(),
    ],
    [
      'an answer as JSON',
      () => setUp([calls({ name: 'gives' }), { text: '{"a":1}' }], { output: z.object({ a: z.number() }) as never }),
      (stage) => stage.run(),
    ],
  ])('%s', async (_, make, play) => {
    const stage = make();
    await play(stage);
    expectPatched(stage.states);
  });
});

describe('what is written grows with the change, not with the state', () => {
  const limits = { steps: 1000, tokens: 10_000_000, wallMs: 9_000_000, activeMs: 9_000_000 };

  async function longRun(options: Options): Promise<Stage> {
    const again = (): ScriptedAnswer => {
      stage.clock.skip(1237.25);
      const id = `call-${String(stage.states.length).padStart(4, '0')}`;
      return stage.last().stepCount >= 299 ? done : calls({ name: 'gives', args: { query: 'the same words' }, id });
    };
    const stage: Stage = setUp([again], options);
    await stage.run();
    expect(stage.last().stepCount).toBe(300);
    return stage;
  }
  const outcomeSizes = (state: ToolUseState): readonly number[] => {
    // Holds: this is how states of this kind are written.
    const { results } = codec.encode(state).data['execution'] as unknown as { readonly results: readonly { readonly outcome: Json }[] };
    return results.slice(1, -1).map(({ outcome }) => JSON.stringify(outcome).length);
  };

  test('the 250th step of 300 takes as much as the 10th, and its outcome the new reasons and numbers', async () => {
    const stage = await longRun({ limits });
    const getSize = (index: number): number => JSON.stringify(codec.diff(stage.states[index]!, stage.states[index + 1]!)).length;
    // The numbers are a few digits longer.
    expect(getSize(250)).toBeLessThanOrEqual(getSize(10) * 1.05);
    expect(Math.max(...outcomeSizes(stage.last()))).toBeLessThanOrEqual(460);
    expectPatched(stage.states.slice(-pickRuns({ quick: 10, slow: 40 })));
  });

  test('an answer takes no more where the step that waits holds much', async () => {
    const stage = setUp([
      calls({ name: 'gives', args: { long: 'x'.repeat(50_000) } }, { name: 'gated' }, { name: 'gated' }, { name: 'client' }),
      done,
    ]);
    await stage.run();
    const parked = stage.states.length;
    stage.add((state) => state.approve('call-2'));
    stage.add((state) => state.reject('call-3', 'no'));
    stage.add((state) => state.answer('call-4', 1));
    const sizes = stage.states
      .slice(parked)
      .map((state, index) => JSON.stringify(codec.diff(stage.states[parked + index - 1]!, state)).length);
    expect(Math.max(...sizes)).toBeLessThan(250);
    await stage.run();
    expectPatched(stage.states);
  });

  test('costs take one reason more', async () => {
    const stage = await longRun({ limits: { ...limits, costUsd: 1000 }, price: ({ total }) => ({ usd: total * 0.000_3 }) });
    expect(Math.max(...outcomeSizes(stage.last()))).toBeLessThanOrEqual(560);
  });
});

describe('a change that was damaged', () => {
  /** Every place in some JSON, the inner ones too. */
  function* placesIn(value: unknown, path: readonly (string | number)[] = []): Generator<readonly (string | number)[]> {
    if (typeof value !== 'object' || value === null) return;
    for (const key of Object.keys(value)) {
      const at = [...path, Array.isArray(value) ? Number(key) : key];
      yield at;
      yield* placesIn((value as Readonly<Record<string, unknown>>)[key], at);
    }
  }
  function damageField(change: unknown, path: readonly (string | number)[], value: unknown): unknown {
    const copy = throughJson(change);
    let place = copy as Record<string | number, unknown>;
    for (const key of path.slice(0, -1)) place = place[key] as Record<string | number, unknown>;
    const key = path.at(-1)!;
    if (value !== undefined) place[key] = value;
    else if (Array.isArray(place)) place.splice(Number(key), 1);
    else Reflect.deleteProperty(place, key);
    return copy;
  }
  /** Applies a patch: returns the state, or the code of the error. Anything else that is thrown fails the test. */
  function tryPatch(before: ToolUseState, change: unknown): ToolUseState | string {
    try {
      return codec.patch(before, change);
    } catch (error) {
      if (SteplineError.is(error)) return error.code;
      throw error;
    }
  }

  async function changes(): Promise<readonly (readonly [ToolUseState, unknown])[]> {
    const stage = setUp([calls({ name: 'gives', args: { n: 1 } }, { name: 'fails' }), calls({ name: 'gated' }, { name: 'client' }), done]);
    await stage.run();
    stage.add((state) => state.approve('call-3').answer('call-4', 1));
    await stage.run();
    stage.add((state) => compactMessages(state, 3).withMetadata('a', 1));
    stage.add((state) => state.withUserMessage('More.', { ids: stage.ids }));
    await stage.run();
    const pairs = stage.states
      .slice(1)
      .map((state, index) => [reread(stage.states[index]!), throughJson(codec.diff(stage.states[index]!, state))] as const);
    return [...pairs, [reread(stage.states[0]!), throughJson(codec.diff(stage.states[0]!, stage.last()))] as const];
  }

  test('is read or refused, and never stumbled over, wherever the damage is', async () => {
    const wrongs = [undefined, null, 'wrong', -7.5, true, [], {}, [null], { '-': ['id'] }];
    // Places take turns with the values unless each place has time for all of them.
    const perPlace = pickRuns({ quick: 3, slow: wrongs.length });
    let refused = 0;
    for (const [before, change] of await changes()) {
      for (const [place, path] of [...placesIn(change)].entries()) {
        for (const wrong of [...wrongs, ...wrongs].slice(place % wrongs.length).slice(0, perPlace)) {
          const end = tryPatch(before, damageField(change, path, wrong));
          if (typeof end === 'string') {
            refused += 1;
            expect(end).toBe('damaged-data');
          } else {
            // What was read can be written, and read again.
            const text = codec.stringify(end);
            expect(codec.stringify(codec.parse(text))).toBe(text);
          }
        }
      }
    }
    expect(refused).toBeGreaterThan(1000);
  });

  type Damage = readonly [what: string, path: readonly (string | number)[], value: unknown, place: string];
  const result = ['execution', 'results', 0] as const;
  test.each<Damage>([
    ['a time that is none', ['info'], [5], 'change.info'],
    ['times as text', ['info', 'updatedAt'], 'noon', 'change.info.updatedAt'],
    ['a conversation that is none', ['store'], [], 'change.store'],
    ['no sections', ['store', 'sections'], undefined, 'change.store.sections'],
    ['a section without a name', ['store', 'sections', 0, 'name'], undefined, 'change.store.sections[0].name'],
    ['a section without messages', ['store', 'sections', 0, 'messages'], undefined, 'change.store.sections[0].messages'],
    ['a message that is none', ['store', 'sections', 0, 'messages', 0], 'nobody', 'change.store.sections[0].messages[0]'],
    ['a message without a role', ['store', 'sections', 0, 'messages', 0, 'role'], undefined, 'change.store.sections[0].messages[0].role'],
    ['a message less than steps refer to', ['store', 'sections', 0, 'messages', 1], undefined, 'change.execution.results[0].messages[1]'],
    ['no messages at all', ['store'], undefined, 'change.execution.results[0].messages[0]'],
    ['an execution that is none', ['execution'], 'over', 'change.execution'],
    ['results that are none', ['execution', 'results'], {}, 'change.execution.results'],
    ['a result that is none', [...result], 7, 'change.execution.results[0]'],
    ['a result without an id', [...result, 'id'], undefined, 'change.execution.results[0].id'],
    ['a result without messages', [...result, 'messages'], undefined, 'change.execution.results[0].messages'],
    ['a result without times', [...result, 'timing'], undefined, 'change.execution.results[0].timing'],
    ['a result without an outcome', [...result, 'outcome'], undefined, 'change.execution.results[0].outcome'],
    ['a result without fields', [...result, 'fields'], undefined, 'change.execution.results[0].fields.stepType'],
    ['a usage that is none', ['execution', 'usage'], 'much', 'change.execution.usage'],
    ['a field that every execution has, gone', ['execution', '-'], ['failedSteps'], 'change.execution.failedSteps'],
    ['executions that are none', ['executions'], {}, 'change.executions'],
    ['half an execution', ['executions'], [{ number: 2 }], 'change.executions[0].results'],
    ['metadata that are none', ['metadata'], [], 'change.metadata'],
    ['a count that is none', ['lastSeq'], '5', 'change.lastSeq'],
    ['a debt that is none', ['owesEvents'], 'yes', 'change.owesEvents'],
  ])('is refused with its place: %s', async (_, path, value, place) => {
    const stage: Stage = setUp([
      () => {
        stage.clock.skip(50);
        return calls({ name: 'gives' });
      },
      done,
    ]);
    await stage.run();
    const index = stage.states.findIndex(({ stepCount }) => stepCount === 1);
    const [before, after] = [stage.states[index - 1]!, stage.states[index]!];
    const change = damageField(codec.diff(before, after), path, value);
    expect(() => codec.patch(reread(before), change)).toThrow(expect.objectContaining({ code: 'damaged-data', path: place }) as Error);
  });

  test.each<[string, unknown, string]>([
    ['text', 'later', 'change.execution.pendingStep'],
    ['null', null, 'change.execution.pendingStep'],
    ['without waits', { '-': ['waits'] }, 'change.execution.pendingStep.waits'],
    ['with answers that are none', { answers: 'yes' }, 'change.execution.pendingStep.answers'],
    ['with half a step', { partial: { id: 'x' } }, 'change.execution.pendingStep.partial.usage'],
  ])('is refused with its place: a step that waits, %s', async (_, pendingStep, place) => {
    const stage = setUp([calls({ name: 'gated' }), done]);
    await stage.run();
    const change = { execution: { pendingStep } };
    expect(() => codec.patch(reread(stage.last()), change)).toThrow(
      expect.objectContaining({ code: 'damaged-data', path: place }) as Error,
    );
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a list', []],
    ['text', '{}'],
  ])('is refused where it is %s', (_, change) => {
    const [start] = setUp([done]).states;
    expect(() => codec.patch(start!, change)).toThrow(expect.objectContaining({ code: 'damaged-data', path: 'change' }) as Error);
  });
});

test('any run, whatever happens to it, is made of its changes again', async () => {
  const value = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
  const args = fc.oneof(
    fc.dictionary(fc.constantFrom('a', 'b', '__proto__', '-'), value, { maxKeys: 3 }),
    fc.constantFrom('{"broken":', '[1]'),
  );
  const call: fc.Arbitrary<ScriptedToolCall> = fc.record({
    name: fc.constantFrom('gives', 'gives', 'fails', 'gated', 'client', 'nobody'),
    args,
  });
  const entry: fc.Arbitrary<ScriptedAnswer> = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        toolCalls: fc.array(call, { minLength: 1, maxLength: 3 }),
        usage: fc.record({ input: fc.nat(99), output: fc.nat(99) }),
      }),
    },
    { weight: 1, arbitrary: fc.record({ text: fc.string() }) },
  );
  const act = fc.constantFrom('run', 'run', 'run', 'message', 'settle', 'settle', 'refuse', 'cancel', 'compact', 'store', 'metadata');
  const perform = async (given: string, stage: Stage): Promise<void> => {
    const state = stage.last();
    const [wait] = state.waitingFor;
    if (given === 'run') await stage.run();
    else if (given === 'message') {
      // Only a grant or a cancel ends a wait for a grant.
      const isRefused = wait?.type === 'grant';
      if (!isRefused) stage.add(() => state.withUserMessage('And now?', { ids: stage.ids }));
    } else if (given === 'metadata') stage.add(() => state.withMetadata('-', stage.states.length));
    else if (given === 'compact') stage.add(() => (state.pendingStep === undefined ? compactMessages(state, 2) : state));
    else if (wait === undefined) return;
    else if (given === 'cancel') stage.add(() => state.cancel('enough'));
    else if (wait.type === 'grant') stage.add(() => (given === 'refuse' ? state.reject(wait.id) : state.grant({ steps: 1, tokens: 50 })));
    else if (given === 'refuse') stage.add(() => state.reject(wait.id, 'no'));
    else stage.add(() => (wait.type === 'approval' ? state.approve(wait.id) : state.answer(wait.id, { n: 1 })));
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(entry, { minLength: 1, maxLength: 5 }),
      fc.array(act, { minLength: 2, maxLength: 10 }),
      fc.constantFrom<Options>(
        { limits: { steps: 3, onLimit: 'pause' } },
        { limits: { steps: 3, tokens: 500, onLimit: 'finalize' }, price: ({ total }) => ({ usd: total / 7 }) },
        { errors: ErrorPolicy.retryToolErrors(2).withBackoff({ baseMs: 0 }), limits: { steps: 5 } },
      ),
      async (script, acts, options) => {
        const stage = setUp(script, options);
        let from = 0;
        for (const given of acts) {
          if (given === 'store') {
            expectPatched(stage.states.slice(from));
            stage.states.push(reread(stage.last()));
            from = stage.states.length - 1;
          } else await perform(given, stage);
        }
        expectPatched(stage.states.slice(from));
        const end = stage.last();
        const read = reread(end);
        expect([toStoredText(read), codec.stringify(reread(read)), read.explain()]).toStrictEqual([
          toStoredText(end),
          codec.stringify(read),
          end.explain(),
        ]);
      },
    ),
    { numRuns },
  );
}, 120_000);
