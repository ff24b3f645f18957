// C5: what has become of a state, as stores append it.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pickRuns } from '../../tests/support/test-scale.ts';
import { ContinuationDecision, ContinuationEvaluation } from '../continuation/index.ts';
import type { Failure } from '../errors/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { InvalidArgumentError } from '../lib/index.ts';
import { Message } from '../messages/index.ts';
import type { Script, ScriptedProcessOptions, ScriptedStep, ScriptedStepData } from '../testing/index.ts';
import { createCountingIds, createFakeClock, createScriptedProcess, ScriptedState } from '../testing/index.ts';
import { createStateCodec } from './state-codec.ts';
import { createStepByStep } from './step-by-step.ts';

const numRuns = pickRuns({ quick: 50, slow: 1000 });

const codec = createStateCodec<ScriptedState, ScriptedStepData>({
  kind: 'scripted-state',
  step: {
    encode: ({ answers }): JsonObject => ({ answers }),
    // Holds because nothing but a script ever wrote these.
    decode: (step, fields) => ({ ...step, answers: fields.json('answers') as unknown as ScriptedStepData['answers'] }),
  },
  build: (data) => new ScriptedState(data),
});

const reread = (state: ScriptedState): ScriptedState => codec.parse(codec.stringify(state));
const throughJson = (change: JsonObject): unknown => JSON.parse(JSON.stringify(change));

/** Each state made of the one before it, one by one and in a chain from what was read. */
function expectPatched(states: readonly ScriptedState[]): void {
  let chained = reread(states[0]!);
  for (const [index, after] of states.entries()) {
    if (index === 0) continue;
    const before = states[index - 1]!;
    const change = codec.diff(before, after);
    expect(codec.stringify(codec.patch(reread(before), throughJson(change)))).toBe(codec.stringify(after));
    expect(codec.stringify(codec.patch(before, change))).toBe(codec.stringify(after));
    chained = codec.patch(chained, throughJson(change));
    expect(codec.stringify(chained)).toBe(codec.stringify(after));
    expect([chained.status, chained.text, chained.explain()]).toStrictEqual([after.status, after.text, after.explain()]);
  }
  const whole = codec.diff(states[0]!, states.at(-1)!);
  expect(codec.stringify(codec.patch(reread(states[0]!), throughJson(whole)))).toBe(codec.stringify(states.at(-1)!));
}

const goesOn: ScriptedStep = {
  text: 'One moment.',
  hasToolCalls: true,
  usage: { input: 7, output: 3 },
  finishReason: 'tool_calls',
  takesMs: 20,
};
const finishes: ScriptedStep = { text: 'Here it is.' };
const failure: Failure = { type: 'tool', code: 'not-found', message: 'no such file', retryable: true, toolName: 'read_file' };
const asks: ScriptedStep = {
  ...goesOn,
  waits: [
    { type: 'approval', id: 'call-1', toolName: 'send', args: { to: ['ann'] } },
    { type: 'person', id: 'call-2', prompt: 'Which one?' },
  ],
};

function setUp(script: Script, options: ScriptedProcessOptions = {}) {
  const [clock, ids] = [createFakeClock(Date.UTC(2026, 0, 1)), createCountingIds()];
  const orchestrator = createStepByStep(createScriptedProcess(script, { clock, ...options }), { clock, ids, random: () => 0.5 });
  const start = ScriptedState.empty({ clock, ids, agentId: 'agent-1' }).withUserMessage('Hello.', { ids });
  const states = [start];
  const last = (): ScriptedState => states.at(-1)!;
  return {
    clock,
    ids,
    states,
    last,
    orchestrator,
    /** Runs what was reached, and keeps each state that is committed. */
    run: async (): Promise<void> => {
      states.push(await orchestrator.run(last(), { commit: ({ state }) => void states.push(state) }));
    },
    add: (change: (state: ScriptedState) => ScriptedState): void => void states.push(change(last())),
  };
}

/** Compacts: a summary replaces the first messages. */
function compactMessages(state: ScriptedState, keep: number): ScriptedState {
  const { store } = state;
  const messages = store.section('messages');
  const old = messages.slice(0, messages.length - keep);
  return state.evolve({
    store: store
      .withSection('summary', [Message.system(`${old.length} messages before.`, { id: `summary-${messages.length}` })])
      .withSection('buffer', old)
      .withSection('messages', messages.slice(messages.length - keep)),
  });
}

type Stage = ReturnType<typeof setUp>;

describe('each state of a run is made of the one before it', () => {
  test.each<[string, () => Stage, (stage: Stage) => Promise<void>]>([
    ['steps', () => setUp([goesOn, goesOn, goesOn, finishes]), (stage) => stage.run()],
    [
      'steps that fail and are tried again',
      () => setUp([{ ...goesOn, errors: [failure] }], { policy: ErrorPolicy.retryAll(4) }),
      (stage) => stage.run(),
    ],
    ['a step that throws', () => setUp([goesOn, { throws: new Error('broken') }]), (stage) => stage.run()],
    ['a start that is refused', () => setUp([goesOn], { limits: { steps: 0 } }), (stage) => stage.run()],
    [
      'votes that a step brings along',
      () =>
        setUp([
          { ...goesOn, evaluations: [ContinuationEvaluation.fromDecision('Vote', ContinuationDecision.AllowContinuation)] },
          goesOn,
          finishes,
        ]),
      (stage) => stage.run(),
    ],
    [
      'waits, answers and going on',
      () => setUp([goesOn, asks, finishes]),
      async (stage) => {
        await stage.run();
        stage.add((state) => state.approve('call-1', { args: { to: ['bob'] } }));
        await stage.run();
        stage.add((state) => state.answer('call-2', 'the red one'));
        await stage.run();
        expect(stage.last().status).toBe('completed');
      },
    ],
    [
      'a call that is refused',
      () => setUp([asks, finishes]),
      async (stage) => {
        await stage.run();
        stage.add((state) => state.reject('call-1', 'no').answer('call-2', null));
        await stage.run();
      },
    ],
    [
      'a message that makes a waiting step pointless',
      () => setUp([asks, finishes]),
      async (stage) => {
        await stage.run();
        stage.add((state) => state.withUserMessage('Never mind.', { ids: stage.ids }));
        await stage.run();
        expect(stage.last().session.executions).toHaveLength(2);
      },
    ],
    [
      'a message while the answered step is still open',
      () => setUp([asks, finishes]),
      async (stage) => {
        await stage.run();
        stage.add((state) => state.approve('call-1').answer('call-2', 1));
        stage.add((state) => state.withUserMessage('And hurry.', { ids: stage.ids }));
        await stage.run();
      },
    ],
    [
      'one that waited and was cancelled',
      () => setUp([goesOn, asks, finishes]),
      async (stage) => {
        await stage.run();
        stage.add((state) => state.cancel('enough'));
        stage.add((state) => state.withUserMessage('Again.', { ids: stage.ids }));
        await stage.run();
      },
    ],
    [
      'grants',
      () => setUp([goesOn], { limits: { steps: 2, onLimit: 'pause' } }),
      async (stage) => {
        await stage.run();
        expect(stage.last().status).toBe('waiting');
        stage.add((state) => state.grant({ steps: 2 }));
        await stage.run();
        stage.add((state) => state.grant({ steps: 1, tokens: 5 }));
        await stage.run();
        stage.add((state) => state.reject(state.waitingFor[0]!.id, 'too dear'));
        await stage.run();
      },
    ],
    [
      'many executions, some without a commit between them',
      () => setUp([goesOn, finishes]),
      async (stage) => {
        for (let turn = 0; turn < 4; turn += 1) {
          await stage.run();
          stage.add((state) => state.withUserMessage(`Turn ${turn}.`, { ids: stage.ids }));
        }
        let state = stage.last();
        for (let turn = 0; turn < 3; turn += 1) state = (await stage.orchestrator.run(state)).withUserMessage('More.', { ids: stage.ids });
        stage.states.push(state);
      },
    ],
    [
      'metadata, and messages of an earlier conversation',
      () => setUp([goesOn, finishes]),
      async (stage) => {
        stage.add((state) => state.withMetadata('ticket', { n: 7 }).withMetadata('__proto__', 1));
        await stage.run();
        stage.add((state) => state.withMetadata('ticket', null));
        stage.add((state) =>
          state.withMessages([Message.user('Before.', { id: 'old-1' }), Message.assistant('Long ago.', { id: 'old-2' })]),
        );
        stage.add((state) => state);
      },
    ],
    [
      'sections that are replaced, emptied, renamed and removed',
      () => setUp([goesOn, goesOn, finishes]),
      async (stage) => {
        await stage.run();
        stage.add((state) => compactMessages(state, 2));
        stage.add((state) => state.withUserMessage('More.', { ids: stage.ids }));
        await stage.run();
        stage.add((state) => compactMessages(state, 1));
        stage.add((state) => state.evolve({ store: state.store.clear('buffer') }));
        stage.add((state) => state.evolve({ store: state.store.rename('buffer', 'attic') }));
        stage.add((state) => state.evolve({ store: state.store.remove('attic') }));
        stage.add((state) => state.evolve({ store: state.store.remove('messages') }));
      },
    ],
    [
      'a message that was changed in its place',
      () => setUp([goesOn, finishes]),
      async (stage) => {
        await stage.run();
        stage.add((state) => {
          const cut = state.messages.map((message) => (message.isAssistant() ? Message.assistant('Cut.', { id: message.id }) : message));
          return state.evolve({ store: state.store.withSection('messages', cut) });
        });
        stage.add((state) => state.withUserMessage('More.', { ids: stage.ids }));
        await stage.run();
      },
    ],
  ])('%s', async (_, make, play) => {
    const stage = make();
    await play(stage);
    expect(stage.states.length).toBeGreaterThan(1);
    expectPatched(stage.states);
  });

  test('nothing has changed: nothing is written, and the same state comes back', () => {
    const { start } = { start: setUp([finishes]).states[0]! };
    expect(codec.diff(start, start)).toStrictEqual({});
    expect(codec.stringify(codec.patch(start, {}))).toBe(codec.stringify(start));
  });

  test('a message that the earlier state has is not written again, whatever section it moves to', async () => {
    const stage = setUp([{ ...goesOn, text: 'x'.repeat(5000) }, finishes]);
    await stage.run();
    stage.add((state) => compactMessages(state, 1));
    expectPatched(stage.states);
    expect(JSON.stringify(codec.diff(stage.states.at(-2)!, stage.last())).length).toBeLessThan(1000);
  });

  test('very many messages at once', () => {
    const [start] = setUp([finishes]).states;
    const many = Array.from({ length: 150_000 }, (_, index) => Message.user('x', { id: `m-${index}` }));
    const after = start!.evolve({ store: start!.store.withSection('messages', start!.messages.concat(many)) });
    expect(codec.patch(start!, codec.diff(start!, after)).messages.length).toBe(150_001);
  });

  test('the earlier state stays as it was', async () => {
    const stage = setUp([goesOn, goesOn, finishes]);
    await stage.run();
    const [first] = stage.states;
    const read = reread(first!);
    const text = codec.stringify(read);
    const once = codec.patch(read, codec.diff(first!, stage.states[1]!));
    codec.patch(read, codec.diff(first!, stage.last()));
    expect([codec.stringify(read), codec.stringify(once)]).toStrictEqual([text, codec.stringify(stage.states[1]!)]);
  });

  test('fields that this version does not know are kept', async () => {
    const stage = setUp([goesOn, finishes]);
    const envelope = codec.encode(stage.last());
    const read = codec.decode({ ...envelope, data: { ...envelope.data, mood: 'fine' } });
    const later = await stage.orchestrator.run(read);
    const patched = codec.patch(read, throughJson(codec.diff(read, later)));
    expect(codec.encode(patched).data['mood']).toBe('fine');
    expect(codec.stringify(patched)).toBe(codec.stringify(later));
  });
});

test('C4: fields of a change that this version does not know are kept, and written again with the state', async () => {
  const stage = setUp([goesOn, finishes]);
  const before = stage.last();
  const later = await stage.orchestrator.run(before);
  const patched = codec.patch(before, throughJson({ ...codec.diff(before, later), mood: 'fine', since: 3 }));
  const again = codec.patch(patched, { mood: 'better' });
  expect([codec.encode(patched).data['mood'], codec.encode(again).data['mood']]).toStrictEqual(['fine', 'better']);
  expect(codec.encode(again).data['since']).toBe(3);
});

describe('what is no earlier state of the same conversation is refused', () => {
  const runToEnd = async (script: Script): Promise<readonly ScriptedState[]> => {
    const stage = setUp(script);
    await stage.run();
    return stage.states;
  };

  test('another conversation', async () => {
    const [one] = await runToEnd([finishes]);
    const other = ScriptedState.empty({ ids: createCountingIds('other') });
    expect(() => codec.diff(one!, other)).toThrow(InvalidArgumentError);
    expect(() => codec.diff(other, one!)).toThrow(InvalidArgumentError);
  });

  test('a fork, which is a conversation of its own', async () => {
    const state = (await runToEnd([goesOn, finishes])).at(-1)!;
    expect(() => codec.diff(state, state.fork({ id: 'fork' }))).toThrow(InvalidArgumentError);
  });

  test('a later state', async () => {
    const states = await runToEnd([goesOn, finishes]);
    expect(() => codec.diff(states.at(-1)!, states[0]!)).toThrow(InvalidArgumentError);
  });

  test('a branch that has gone another way', async () => {
    const stage = setUp([goesOn, goesOn, finishes]);
    const first = await stage.orchestrator.nextStep(stage.last());
    const [left, right] = [await stage.orchestrator.nextStep(first), await stage.orchestrator.nextStep(first)];
    expect(() => codec.diff(left, right)).toThrow(InvalidArgumentError);
    expect(codec.diff(first, right)).toHaveProperty('execution');
  });

  test('what was read from a store, for a run that did not begin with it', async () => {
    const states = await runToEnd([goesOn, goesOn, finishes]);
    expect(() => codec.diff(reread(states[1]!), states.at(-1)!)).toThrow(InvalidArgumentError);
  });

  test('a conversation of the same id with more executions', async () => {
    const stage = setUp([finishes]);
    await stage.run();
    const one = stage.last();
    const two = await stage.orchestrator.run(one.withUserMessage('More.', { ids: stage.ids }));
    expect(() => codec.diff(two, one)).toThrow(InvalidArgumentError);
  });
});

describe('what is written grows with the change, not with the state', () => {
  const sizes = async (script: Script): Promise<readonly number[]> => {
    const stage = setUp(script, { limits: { steps: 1000, tokens: 10_000_000, wallMs: 100_000_000 } });
    await stage.run();
    return stage.states.slice(1).map((state, index) => JSON.stringify(codec.diff(stage.states[index]!, state)).length);
  };

  test('the 250th step of 300 takes as much as the 10th', async () => {
    const written = await sizes(({ stepCount }) => (stepCount < 299 ? { ...goesOn, takesMs: 137 } : finishes));
    expect(written.length).toBeGreaterThanOrEqual(300);
    // The numbers are a few digits longer.
    expect(written[250]!).toBeLessThanOrEqual(written[10]! * 1.05);
    expect(written[250]!).toBeLessThan(750);
  });

  test('a turn after 100 turns takes as much as one after 10', async () => {
    const stage = setUp([goesOn, finishes]);
    const turn: number[] = [];
    for (let index = 0; index < 100; index += 1) {
      const before = stage.last();
      await stage.run();
      stage.add((state) => state.withUserMessage('More.', { ids: stage.ids }));
      turn.push(JSON.stringify(codec.diff(before, stage.last())).length);
    }
    expect(turn[99]!).toBeLessThanOrEqual(turn[10]! * 1.05);
  });
});

const entry: fc.Arbitrary<ScriptedStep> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      text: fc.string(),
      hasToolCalls: fc.constant(true),
      usage: fc.record({ input: fc.nat(50), output: fc.nat(9) }),
      takesMs: fc.nat(4000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ text: fc.string() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      text: fc.string(),
      errors: fc.array(fc.constantFrom(failure, { ...failure, message: 'other', readable: true }), { minLength: 1, maxLength: 2 }),
      hasToolCalls: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ throws: fc.constantFrom(new Error('broken'), 'text') }) },
  { weight: 1, arbitrary: fc.record({ hasToolCalls: fc.constant(true) }) },
  { weight: 2, arbitrary: fc.constant(asks) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(...Object.values(ContinuationDecision))
      .map((given) => ({ hasToolCalls: true, evaluations: [ContinuationEvaluation.fromDecision('Vote', given)] })),
  },
);
const act = fc.constantFrom(
  'run',
  'run',
  'run',
  'step',
  'message',
  'message',
  'settle',
  'settle',
  'cancel',
  'grant',
  'metadata',
  'compact',
  'store',
);

async function perform(given: string, stage: Stage): Promise<void> {
  const state = stage.last();
  const [wait] = state.waitingFor;
  if (given === 'run') await stage.run();
  else if (given === 'step') stage.states.push(await stage.orchestrator.nextStep(state));
  else if (given === 'message')
    stage.add(() => (wait?.type === 'grant' ? state.cancel('enough') : state).withUserMessage('And now?', { ids: stage.ids }));
  else if (given === 'metadata') stage.add(() => state.withMetadata('at', stage.states.length));
  else if (given === 'compact') stage.add(() => (state.pendingStep === undefined ? compactMessages(state, 2) : state));
  else if (given === 'cancel' && wait !== undefined) stage.add(() => state.cancel('enough'));
  else if (given === 'grant' && wait?.type === 'grant') stage.add(() => state.grant({ steps: 2, tokens: 100 }));
  else if (given === 'settle' && wait?.type === 'approval')
    stage.add(() => (stage.states.length % 2 === 0 ? state.approve(wait.id) : state.reject(wait.id)));
  else if (given === 'settle' && wait?.type === 'person') stage.add(() => state.answer(wait.id, { n: 1 }));
}

test('any run, whatever happens to it, is made of its changes again', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(entry, { minLength: 1, maxLength: 6 }),
      fc.array(act, { minLength: 2, maxLength: 14 }),
      fc.constantFrom<ScriptedProcessOptions>(
        { policy: ErrorPolicy.retryAll(3).withBackoff({ baseMs: 0 }) },
        { policy: ErrorPolicy.ignoreToolErrors(), limits: { steps: 3, onLimit: 'pause' } },
        { limits: { steps: 4, tokens: 90, activeMs: 9000, onLimit: 'finalize' } },
      ),
      async (script, acts, options) => {
        const stage = setUp(script, options);
        let from = 0;
        for (const given of acts) {
          if (given !== 'store') await perform(given, stage);
          else {
            expectPatched(stage.states.slice(from));
            stage.states.push(reread(stage.last()));
            from = stage.states.length - 1;
          }
        }
        expectPatched(stage.states.slice(from));
        const end = stage.last();
        const text = codec.stringify(end);
        expect([codec.stringify(codec.parse(text)), codec.parse(text).explain()]).toStrictEqual([text, end.explain()]);
      },
    ),
    { numRuns },
  );
}, 120_000);
