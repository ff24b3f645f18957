// The success criteria of the StepResult plan (003, phases 1, 2 and 6), on the state that all orchestrators are made of.
import { describe, expect, test } from 'vitest';
import { ContinuationDecision, ContinuationEvaluation, ContinuationOutcome, StopReason } from '../continuation/index.ts';
import { InvalidArgumentError } from '../lib/index.ts';
import { Usage } from '../messages/index.ts';
import { createCountingIds, createFakeClock, createScriptedProcess, ScriptedState } from '../testing/index.ts';
import type { Step } from './step.ts';
import { createStepByStep } from './step-by-step.ts';
import type { StepTiming } from './step-result.ts';
import { StepResult } from './step-result.ts';

const step: Step = { id: 'step-1', outputMessages: [], usage: Usage.none(), errors: [] };
const timing: StepTiming = { startedAt: 0, endedAt: 5, activeMs: 5, waitedMs: 0 };
const toOutcome = (decision: ContinuationDecision, stopReason?: StopReason): ContinuationOutcome =>
  ContinuationOutcome.fromEvaluations([ContinuationEvaluation.fromDecision('Rule', decision, stopReason)]);
const resultWith = (outcome: ContinuationOutcome): StepResult => new StepResult(step, outcome, { number: 1, timing });

describe('a step result', () => {
  test('bundles the very step and the very outcome', () => {
    const outcome = toOutcome(ContinuationDecision.RequestContinuation);
    const result = resultWith(outcome);
    expect(result.step).toBe(step);
    expect(result.outcome).toBe(outcome);
    expect(result.number).toBe(1);
    expect(result.timing).toBe(timing);
  });

  test('needs a step and an outcome only: without a record it ended just now, and has no number yet', () => {
    const before = Date.now();
    const result = new StepResult(step, toOutcome(ContinuationDecision.AllowStop));
    expect([result.number, result.shouldContinue, result.stopReason]).toStrictEqual([0, false, 'completed']);
    expect(result.timing).toMatchObject({ activeMs: 0, waitedMs: 0 });
    expect(result.timing.endedAt - before).toBeLessThan(5000);
    expect(result.timing.startedAt).toBe(result.timing.endedAt);
  });

  const outcome = toOutcome(ContinuationDecision.AllowStop);
  test.each([
    ['no step', [undefined, outcome], 'the step must be an object, not undefined'],
    ['a step without an id', [{ ...step, id: undefined }, outcome], 'step.id must be a non-empty string, not undefined'],
    ['a step without messages', [{ ...step, outputMessages: undefined }, outcome], 'step.outputMessages must be a list, not undefined'],
    ['a step without usage', [{ ...step, usage: 3 }, outcome], 'step.usage must be a Usage, not 3'],
    ['no outcome', [step, undefined], 'the outcome must be a ContinuationOutcome, not undefined'],
    ['an outcome written by hand', [step, { shouldContinue: true }], 'the outcome must be a ContinuationOutcome, not an object'],
    ['half a number', [step, outcome, { number: 1.5, timing }], 'number must be a whole number of 1 or more, not 1.5'],
    [
      'negative time',
      [step, outcome, { number: 1, timing: { ...timing, activeMs: -1 } }],
      'timing.activeMs must be a number of 0 or more, not -1',
    ],
    ['an end in words', [step, outcome, { number: 1, timing: { ...timing, endedAt: 'now' } }], 'timing.endedAt must be milliseconds'],
  ])('refuses %s', (_name, given, message) => {
    // Holds because this is what a caller without types can give.
    const make = () => new StepResult(...(given as unknown as ConstructorParameters<typeof StepResult>));
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(message);
  });

  test.each([
    ['request', undefined, true, undefined],
    ['allow', undefined, true, undefined],
    ['stop', undefined, false, 'completed'],
    ['forbid', undefined, false, 'guard'],
    ['forbid', StopReason.StepsLimitReached, false, 'steps_limit'],
    ['forbid', StopReason.ErrorForbade, false, 'error'],
  ] as const)('after %s (%s) answers as its outcome does', (decision, given, shouldContinue, stopReason) => {
    const result = resultWith(toOutcome(decision, given));
    expect(result.shouldContinue).toBe(shouldContinue);
    expect(result.stopReason).toBe(stopReason);
  });

  test('cannot be changed', () => {
    const result = resultWith(toOutcome(ContinuationDecision.AllowStop));
    expect(() => Object.assign(result, { step: { ...step, id: 'other' } })).toThrow(TypeError);
    expect(() => Object.assign(result, { more: true })).toThrow(TypeError);
    expect(Object.keys(result)).toStrictEqual(['number', 'step', 'outcome', 'timing']);
  });

  test('has a handling only where the step failed', () => {
    const handling = { decision: 'retry', errorType: 'tool', consecutiveFailures: 1, totalFailures: 1 } as const;
    expect('handling' in resultWith(ContinuationOutcome.empty())).toBe(false);
    expect(new StepResult(step, ContinuationOutcome.empty(), { number: 1, timing, handling }).handling).toBe(handling);
  });
});

describe('a state', () => {
  const clock = createFakeClock();
  const script = [{ text: 'Looking.', hasToolCalls: true }, { text: 'Looking on.', hasToolCalls: true }, { text: 'Found.' }];
  const orchestrator = createStepByStep(createScriptedProcess(script, { limits: { steps: 2 } }), { clock, ids: createCountingIds() });
  const start = ScriptedState.empty({ clock, ids: createCountingIds('state') }).withUserMessage('Find it.');

  test('without a result has none to show', () => {
    expect([start.lastStepResult, start.lastContinuationOutcome, start.stopReason]).toStrictEqual([undefined, undefined, undefined]);
    expect(start.stepResults).toStrictEqual([]);
  });

  test('stores results, and reads steps, outcome and stop reason from them', async () => {
    const end = await orchestrator.run(start);
    expect(end.stepResults.map(({ number, shouldContinue, stopReason }) => [number, shouldContinue, stopReason])).toStrictEqual([
      [1, true, undefined],
      [2, false, 'steps_limit'],
    ]);
    expect(end.lastStepResult).toBe(end.stepResults[1]);
    expect(end.lastContinuationOutcome).toBe(end.lastStepResult?.outcome);
    expect(end.continuationOutcome).toBe(end.lastContinuationOutcome);
    expect(end.stopReason).toBe('steps_limit');
    expect(end.steps).toStrictEqual(end.stepResults.map((result) => result.step));
    expect(end.currentStep).toBe(end.lastStepResult?.step);
  });

  test('keeps the outcome off the step', async () => {
    const end = await orchestrator.run(start);
    for (const recorded of end.steps) expect(Object.keys(recorded)).not.toContain('outcome');
  });

  test('decides on going on by its last result alone', async () => {
    const one = await orchestrator.nextStep(start);
    expect(orchestrator.hasNextStep(one)).toBe(one.lastStepResult?.shouldContinue);
    const two = await orchestrator.nextStep(one);
    expect(orchestrator.hasNextStep(two)).toBe(two.lastStepResult?.shouldContinue);
    // What is recorded stands, whoever is asked about it: this one would have allowed more steps.
    const generous = createStepByStep(createScriptedProcess(script, { limits: { steps: 50 } }), { clock });
    expect(generous.hasNextStep(two)).toBe(false);
    expect(await generous.run(two)).toBe(two);
  });

  test('records each result once: earlier ones stay the very same objects', async () => {
    const one = await orchestrator.nextStep(start);
    const two = await orchestrator.nextStep(one);
    expect(two.stepResults[0]).toBe(one.stepResults[0]);
    expect(one.stepResults).toHaveLength(1);
  });

  test('keeps results and outcomes through storage', async () => {
    const end = await orchestrator.run(start);
    const read = ScriptedState.fromJSON(JSON.parse(JSON.stringify(end)));
    expect(read.stepResults).toStrictEqual(end.stepResults);
    expect([read.stopReason, read.lastContinuationOutcome?.resolvedBy]).toStrictEqual(['steps_limit', 'StepsLimit']);
  });
});
