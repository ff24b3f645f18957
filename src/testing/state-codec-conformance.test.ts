import { describe, expect, test } from 'vitest';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { StateCodec } from '../step-by-step/index.ts';
import { createStepByStep } from '../step-by-step/index.ts';
import { createScriptedProcess, ScriptedState } from './scripted-process.ts';
import { stateCodecConformance } from './state-codec-conformance.ts';

type Codec = StateCodec<ScriptedState>;

async function statesOfARun(): Promise<readonly ScriptedState[]> {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const process = createScriptedProcess([{ text: 'One moment.', hasToolCalls: true, usage: { input: 1, output: 1 } }, { text: 'Here.' }]);
  const states = [ScriptedState.empty({ clock, ids }).withUserMessage('Hello.', { ids })];
  for await (const state of createStepByStep(process, { clock, ids }).iterate(states[0] as ScriptedState)) states.push(state);
  return states;
}

const suite = (breaking: (whole: Codec) => Partial<Codec>) =>
  stateCodecConformance(async () => {
    const whole = ScriptedState.codec;
    return { codec: { ...whole, ...breaking(whole) }, states: await statesOfARun() };
  });

describe('the codec of the scripted process', () => {
  test.each(suite(() => ({})))('$name', ({ run }) => run());
});

const withoutUnknown = (state: ScriptedState): ScriptedState => new ScriptedState({ ...state.data, unknownFields: undefined });
const changeSeq = (state: ScriptedState): ScriptedState => state.evolve({ lastSeq: state.data.lastSeq + 1 });

const broken: readonly { readonly name: string; readonly breaking: (whole: Codec) => Partial<Codec> }[] = [
  {
    name: 'reads what it wrote as the same state',
    breaking: (whole) => ({ parse: (text) => whole.parse(text).evolve({ metadata: { lost: true } }) }),
  },
  { name: 'writes plain JSON', breaking: (whole) => ({ decode: (stored) => changeSeq(whole.decode(stored)) }) },
  { name: 'makes of a state and its change the state after it', breaking: () => ({ patch: (before) => before }) },
  { name: 'writes nothing where nothing has changed', breaking: () => ({ diff: (_, after) => ({ lastSeq: after.data.lastSeq }) }) },
  {
    name: 'leaves what it reads and writes as it was',
    breaking: (whole) => ({
      decode: (stored) => {
        (stored as { data: { lastSeq: number } }).data.lastSeq += 1;
        return whole.decode(stored);
      },
    }),
  },
  { name: 'refuses a change of another conversation', breaking: () => ({ diff: () => ({}) }) },
  {
    name: 'keeps fields at the top that it does not know',
    breaking: (whole) => ({ decode: (stored) => withoutUnknown(whole.decode(stored)) }),
  },
  {
    name: 'refuses a newer schema, and says so',
    breaking: (whole) => ({ decode: (stored) => whole.decode({ ...(stored as object), schema: 1 }) }),
  },
  {
    name: 'refuses another kind',
    breaking: (whole) => ({ decode: (stored) => whole.decode({ ...(stored as object), kind: whole.kind }) }),
  },
  {
    name: 'refuses what was cut off, with its place',
    breaking: () => ({
      parse: () => {
        throw new TypeError('no');
      },
    }),
  },
];

describe('a codec that breaks a promise is found out', () => {
  test.each(broken)('$name', async ({ name, breaking }) => {
    const found = suite(breaking).find((each) => each.name === name);
    await expect(Promise.resolve().then(() => found?.run())).rejects.toThrow();
  });

  test('each promise has a codec that breaks it', () => {
    expect(broken.map(({ name }) => name)).toStrictEqual(suite(() => ({})).map(({ name }) => name));
  });

  test('one that is given no run is told so', async () => {
    const states = (await statesOfARun()).slice(0, 1);
    const [first] = stateCodecConformance(() => ({ codec: ScriptedState.codec, states }));
    await expect(Promise.resolve().then(() => first?.run())).rejects.toThrow('more steps');
  });
});
