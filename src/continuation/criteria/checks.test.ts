import { describe, expect, test } from 'vitest';
import { ErrorPresenceCheck } from './error-presence-check.ts';
import { FinishReasonCheck } from './finish-reason-check.ts';
import { ResponseContentCheck } from './response-content-check.ts';
import { StopOnFinalDecision } from './stop-on-final-decision.ts';
import type { StopRequest } from '../findings.ts';
import { StopRequested, toStopEvaluation } from './stop-requested.ts';
import { ToolCallPresenceCheck } from './tool-call-presence-check.ts';

const itself = <Value>(value: Value): Value => value;

describe('FinishReasonCheck', () => {
  test.each([
    [['length', 'content_filter'], 'length', 'forbid', 'the answer ended with the finish reason "length", which ends the run'],
    [['length'], 'stop', 'allow', 'the finish reason "stop" does not end the run'],
    [['length'], undefined, 'allow', 'the provider gave no finish reason'],
    [['length'], null, 'allow', 'the provider gave no finish reason'],
    [[], 'length', 'allow', 'no finish reason ends the run'],
    [[], null, 'allow', 'no finish reason ends the run'],
  ] as const)('watching for %j, given %j: %s', (stopReasons, finishReason, decision, reason) => {
    const check = new FinishReasonCheck<string | null | undefined>(stopReasons, itself);
    expect(check.explain(finishReason)).toStrictEqual({
      criterion: 'FinishReasonCheck',
      decision,
      reason,
      ...(decision === 'forbid' && { stopReason: 'finish_reason' }),
      context: { finishReason: finishReason ?? null, stopReasons },
    });
    expect(check.decide(finishReason)).toBe(decision);
  });

  test('judges each finish reason by itself, however many there are', () => {
    const check = new FinishReasonCheck<string>(['r7', 'r30'], itself);
    const reasons = Array.from({ length: 40 }, (_, index) => `r${index}`);
    for (const pass of [reasons, reasons.toReversed()])
      expect(pass.filter((reason) => check.decide(reason) === 'forbid').toSorted()).toStrictEqual(['r30', 'r7']);
    expect(reasons.map((reason) => check.explain(reason).context['finishReason'])).toStrictEqual(reasons);
  });

  test('keeps the reasons that it was given, whatever happens to the list later', () => {
    const reasons = ['length'];
    const check = new FinishReasonCheck<string>(reasons, itself);
    reasons.push('stop');
    expect(check.decide('stop')).toBe('allow');
  });
});

test.each([
  [true, 'forbid', 'the last step failed'],
  [false, 'allow', 'nothing failed'],
] as const)('ErrorPresenceCheck: errors %s: %s', (hasErrors, decision, reason) => {
  const check = new ErrorPresenceCheck<boolean>(itself);
  expect(check.explain(hasErrors)).toStrictEqual({
    criterion: 'ErrorPresenceCheck',
    decision,
    reason,
    ...(hasErrors && { stopReason: 'error' }),
    context: { hasErrors },
  });
  expect(check.decide(hasErrors)).toBe(decision);
});

test.each([
  [true, 'request', 'the model has not answered yet'],
  [false, 'stop', 'the model called no tools'],
] as const)('ToolCallPresenceCheck: calls %s: %s', (hasToolCalls, decision, reason) => {
  const check = new ToolCallPresenceCheck<boolean>(itself);
  expect(check.explain(hasToolCalls)).toStrictEqual({ criterion: 'ToolCallPresenceCheck', decision, reason, context: { hasToolCalls } });
  expect(check.decide(hasToolCalls)).toBe(decision);
});

test.each([
  [undefined, 'allow', 'there is no response yet', { hasResponse: false, shouldContinue: true }],
  [null, 'allow', 'there is no response yet', { hasResponse: false, shouldContinue: true }],
  ['MORE', 'request', 'the response asks for another step', { hasResponse: true, shouldContinue: true }],
  ['DONE', 'stop', 'the response asks for no further step', { hasResponse: true, shouldContinue: false }],
  ['', 'stop', 'the response asks for no further step', { hasResponse: true, shouldContinue: false }],
] as const)('ResponseContentCheck: response %j: %s', (response, decision, reason, context) => {
  const check = new ResponseContentCheck<string | null | undefined, string>(itself, (text) => text === 'MORE');
  expect(check.explain(response)).toStrictEqual({ criterion: 'ResponseContentCheck', decision, reason, context });
  expect(check.decide(response)).toBe(decision);
});

test.each([
  [undefined, 'allow', 'there is no step yet'],
  [null, 'allow', 'there is no step yet'],
  ['tool_execution', 'request', 'the last step used tools'],
  ['final_response', 'stop', 'the last step was of type final_response'],
  ['error', 'stop', 'the last step was of type error'],
] as const)('StopOnFinalDecision: step %j: %s (C51)', (stepType, decision, reason) => {
  const check = new StopOnFinalDecision<string | null | undefined>(itself);
  expect(check.explain(stepType)).toStrictEqual({
    criterion: 'StopOnFinalDecision',
    decision,
    reason,
    context: { stepType: stepType ?? null },
  });
  expect(check.decide(stepType)).toBe(decision);
});

describe('StopRequested', () => {
  const check = new StopRequested();

  test('has nothing against going on while nobody asked', () => {
    expect(check.explain(undefined)).toStrictEqual({
      criterion: 'StopRequested',
      decision: 'allow',
      reason: 'nobody asked to stop',
      context: {},
    });
  });

  test.each(['signal', 'request'] as const)('forbids with the words of whoever asked (by %s, C07)', (by) => {
    const request: StopRequest = { by, reason: 'the user closed the tab' };
    expect(check.explain(undefined, { stopRequest: request })).toStrictEqual({
      criterion: 'StopRequested',
      decision: 'forbid',
      reason: 'the user closed the tab',
      stopReason: 'user_requested',
      context: { by },
    });
    expect(check.decide(undefined, { stopRequest: request })).toBe('forbid');
    expect(toStopEvaluation(request)).toStrictEqual(check.explain(undefined, { stopRequest: request }));
  });
});
