import { describe, expect, test } from 'vitest';
import { DamagedDataError, InvalidArgumentError } from '../lib/index.ts';
import type { ContinuationDecision } from './continuation-decision.ts';
import { ContinuationEvaluation, LimitKind } from './continuation-evaluation.ts';
import { StopReason } from './stop-reason.ts';

describe('an evaluation from a bare decision', () => {
  test.each([
    ['forbid', 'Budget forbade continuation'],
    ['request', 'Budget requested continuation'],
    ['allow', 'Budget permits continuation'],
    ['stop', 'Budget allows stop'],
  ] as const)('%s has a default reason, no stop reason and an empty context', (decision, reason) => {
    expect(ContinuationEvaluation.fromDecision('Budget', decision)).toStrictEqual({ criterion: 'Budget', decision, reason, context: {} });
  });

  test('carries the stop reason that it was given', () => {
    expect(ContinuationEvaluation.fromDecision('Budget', 'forbid', 'token_limit').stopReason).toBe('token_limit');
  });

  test('keeps the whole name, whatever characters it has (C15)', () => {
    expect(ContinuationEvaluation.fromDecision('app\\rules\\Budget', 'stop').reason).toBe('app\\rules\\Budget allows stop');
  });
});

describe('an evaluation from storage', () => {
  const stored = { criterion: 'Budget', decision: 'forbid', reason: 'spent', stopReason: 'guard', limit: 'cost', context: { usd: 3 } };

  test('comes back as it was', () => {
    expect(ContinuationEvaluation.fromJSON(stored)).toStrictEqual(stored);
  });

  test('may lack what is optional', () => {
    const { criterion, decision, reason } = stored;
    expect(ContinuationEvaluation.fromJSON({ criterion, decision, reason })).toStrictEqual({ criterion, decision, reason, context: {} });
    expect(ContinuationEvaluation.fromJSON({ criterion, decision, reason, stopReason: null })).not.toHaveProperty('stopReason');
  });

  test.each(Object.values(StopReason))('may have the stop reason %s', (stopReason) => {
    expect(ContinuationEvaluation.fromJSON({ ...stored, stopReason }).stopReason).toBe(stopReason);
  });

  test.each(Object.values(LimitKind))('may have the limit %s', (limit) => {
    expect(ContinuationEvaluation.fromJSON({ ...stored, limit }).limit).toBe(limit);
  });

  test.each([
    ['without a decision (C16)', { ...stored, decision: undefined }, 'evaluation.decision'],
    ['with an unknown decision', { ...stored, decision: 'perhaps' }, 'evaluation.decision'],
    ['without a name', { ...stored, criterion: undefined }, 'evaluation.criterion'],
    ['without a reason', { ...stored, reason: 7 }, 'evaluation.reason'],
    ['with an unknown stop reason', { ...stored, stopReason: 'bored' }, 'evaluation.stopReason'],
    ['with an unknown limit', { ...stored, limit: 'patience' }, 'evaluation.limit'],
    ['with a context that is no object', { ...stored, context: [1] }, 'evaluation.context'],
    ['that is no object', 'forbid', 'evaluation'],
  ])('is refused %s', (_name, input, path) => {
    expect(() => ContinuationEvaluation.fromJSON(input)).toThrow(DamagedDataError);
    expect(() => ContinuationEvaluation.fromJSON(input)).toThrow(expect.objectContaining({ path }));
  });
});

describe('the constructor', () => {
  test('copies and freezes the context: its caller may go on using its own', () => {
    const context = { count: 1 };
    const made = new ContinuationEvaluation({ criterion: 'Mine', decision: 'allow', context });
    context.count = 2;
    expect(made.context).toStrictEqual({ count: 1 });
    expect([Object.isFrozen(made), Object.isFrozen(made.context)]).toStrictEqual([true, true]);
  });

  test('makes plain data, with a reason if none is given', () => {
    expect(new ContinuationEvaluation({ criterion: 'Mine', decision: 'stop' })).toStrictEqual({
      criterion: 'Mine',
      decision: 'stop',
      reason: 'Mine allows stop',
      context: {},
    });
  });

  const given = { criterion: 'Mine', decision: 'allow' };
  test.each([
    ['no fields', undefined, 'needs an object, not undefined'],
    ['nothing in them', {}, 'criterion must be the name of a criterion, not undefined'],
    ['an empty name', { ...given, criterion: '' }, 'criterion must be the name of a criterion, not ""'],
    ['no decision', { criterion: 'Mine' }, 'decision must be forbid, allow, request or stop, not undefined'],
    ['an unknown decision', { ...given, decision: 'perhaps' }, 'not "perhaps"'],
    ['a reason that is not a text', { ...given, reason: 7 }, 'reason must be a string, not 7'],
    ['an unknown stop reason', { ...given, stopReason: 'bored' }, 'stopReason must be one of completed, steps_limit'],
    ['an unknown limit', { ...given, limit: 'patience' }, 'limit must be one of steps, tokens'],
    ['an unknown action at a limit', { ...given, atLimit: 'stop' }, 'atLimit must be finalize or pause, not "stop"'],
    ['a context that is not an object', { ...given, context: [1] }, 'context must be an object, not a list'],
    ['the name of the documents', { criterionClass: 'Mine', decision: 'allow' }, 'Unknown option "criterionClass"'],
  ])('refuses %s', (_name, fields, message) => {
    // Holds because this is what a caller without types can give.
    const make = () => new ContinuationEvaluation(fields as ConstructorParameters<typeof ContinuationEvaluation>[0]);
    expect(make).toThrow(InvalidArgumentError);
    expect(make).toThrow(message);
  });

  test('refuses the same from a bare decision', () => {
    // Holds because this is what a caller without types can give.
    const decision = undefined as unknown as ContinuationDecision;
    expect(() => ContinuationEvaluation.fromDecision('Mine', decision)).toThrow('decision must be forbid, allow, request or stop');
  });
});
