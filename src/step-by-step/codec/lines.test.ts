import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pickRuns } from '../../../tests/support/test-scale.ts';
import type { JsonObject } from '../../lib/index.ts';
import { DamagedDataError } from '../../lib/index.ts';
import { Message } from '../../messages/index.ts';
import type { ScriptedStep } from '../../testing/index.ts';
import { createCountingIds, createFakeClock, createScriptedProcess, ScriptedState } from '../../testing/index.ts';
import { createStepByStep } from '../step-by-step.ts';
import { splitLines } from './lines.ts';

const { codec } = ScriptedState;

/** Takes these steps, and sends another message after each step that ends the run. */
async function converse(steps: readonly ScriptedStep[], ids = createCountingIds()): Promise<ScriptedState> {
  const clock = createFakeClock(Date.UTC(2026, 0, 1));
  let state = ScriptedState.empty({ clock, ids }).withUserMessage('Hello.', { ids });
  for (const step of steps) {
    const loop = createStepByStep(createScriptedProcess([step], { clock, limits: { steps: 10_000 } }), { clock, ids });
    state = await loop.nextStep(state);
    if (state.stopReason !== undefined) state = state.withUserMessage('And?', { ids });
  }
  return state;
}

const goesOn: ScriptedStep = { text: 'One moment.', hasToolCalls: true, usage: { input: 7, output: 3 }, finishReason: 'tool_calls' };
const finishes: ScriptedStep = { text: 'Line one.\nLine two.', usage: { input: 1, output: 1 } };
const long = (count: number): readonly ScriptedStep[] => Array.from({ length: count }, () => goesOn);

const toPlain = (state: ScriptedState): unknown => JSON.parse(codec.stringify(state));
function read(text: string, change: (line: string) => string = (line) => line): ScriptedState {
  const split = splitLines(text);
  if (split === undefined) throw new Error('There are no lines.');
  return codec.decodeLines({ written: JSON.parse(split.text), lines: split.lines.map(change) });
}
const spoil = (): string => 'spoilt';

const step: fc.Arbitrary<ScriptedStep> = fc.oneof(
  { weight: 8, arbitrary: fc.constant(goesOn) },
  { weight: 2, arbitrary: fc.string().map((text) => ({ ...goesOn, text, usage: { input: text.length, output: 1 } })) },
  { weight: 1, arbitrary: fc.constant({ text: 'x', hasToolCalls: true, finishReason: 'length' }) },
  { weight: 1, arbitrary: fc.constant(finishes) },
);

describe('a state in lines', () => {
  test('is read as the same state, with its lines and as a whole, whatever its steps are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 60 }), async (steps) => {
        const state = await converse(steps);
        const text = codec.stringifyLines(state);
        const split = splitLines(text);
        // Written again, each is the same text: what was written whole is written as changes.
        expect(toPlain(codec.decode(JSON.parse(text)))).toStrictEqual(toPlain(state));
        const again = codec.decodeLines({ written: JSON.parse(split?.text ?? text), lines: split?.lines ?? [] });
        expect(toPlain(again)).toStrictEqual(toPlain(state));
      }),
      { numRuns: pickRuns({ quick: 40, slow: 400 }) },
    );
  });

  test('numbers its last step as before, and says what it decided', async () => {
    const state = await converse([...long(30), finishes]);
    const again = read(codec.stringifyLines(state), spoil);
    const past = state.session.executions[0]?.results.last;
    expect([again.status, again.text, again.session.stepCount, again.messages.length]).toStrictEqual([
      state.status,
      state.text,
      31,
      state.messages.length,
    ]);
    const open = await converse(long(30));
    const reread = read(codec.stringifyLines(open), spoil).lastStepResult;
    expect([reread?.number, reread?.outcome.toJSON()]).toStrictEqual([30, open.lastStepResult?.outcome.toJSON()]);
    expect(past?.number).toBe(31);
  });

  test('reads earlier steps and messages only when somebody asks, and then finds damage', async () => {
    const text = codec.stringifyLines(await converse(long(30)));
    const state = read(text, spoil);
    expect([state.text, state.stepCount, state.usage.total]).toStrictEqual(['One moment.', 30, 300]);
    expect(() => state.stepResults).toThrow(DamagedDataError);
    expect(() => state.messages.toArray()).toThrow(DamagedDataError);
    expect(() => read(text, (line) => line.slice(line.indexOf('},{') + 2)).messages.toArray()).toThrow(
      /expected 23 earlier items, found 22/u,
    );
  });

  test('goes on without its earlier steps and messages, as if they had been read', async () => {
    const state = await converse(long(30));
    const text = codec.stringifyLines(state);
    const [lazy, whole] = [read(text, spoil), codec.parse(codec.stringify(state))];
    const add = (before: ScriptedState): ScriptedState => before.withMessages([Message.user('More.', { id: 'm' })]);
    const change: JsonObject = codec.diff(lazy, add(lazy));
    expect(change).toStrictEqual(codec.diff(whole, add(whole)));
    const patched = codec.patch(read(text), JSON.parse(JSON.stringify(change)));
    expect(toPlain(patched)).toStrictEqual(toPlain(add(whole)));
  });

  test('is text without lines if it is short', async () => {
    const state = await converse([goesOn, finishes]);
    const text = codec.stringifyLines(state);
    expect([splitLines(text), toPlain(codec.parse(text))]).toStrictEqual([undefined, toPlain(state)]);
  });

  test.each([[[0]], [['0', 3]], [[9, 3]], [[0, -1]], [[0, 1.5]], ['x']])('refuses a list whose earlier items are %j', async (earlier) => {
    const split = splitLines(codec.stringifyLines(await converse(long(30))));
    const written = JSON.parse(split?.text ?? '') as { data: { execution: { earlier: unknown } } };
    written.data.execution.earlier = earlier;
    expect(() => codec.decodeLines({ written, lines: split?.lines ?? [] })).toThrow(/data\.execution\.earlier/u);
  });
});
