// Lines of events, from plain data: the form that stored events have.
import { describe, expect, test } from 'vitest';
import { formatEvent } from './format-event.ts';

const header = { id: 'e', seq: 1, at: 0, agentId: '3f2a91c0', parentAgentId: null, executionId: 'x', stepNumber: 4 };

const evaluation = (criterion: string, decision: string, more: object = {}): object => ({
  criterion,
  decision,
  reason: '',
  context: {},
  ...more,
});

const createDecision = (outcome: object, more: object = {}): object => ({ ...header, type: 'ContinuationEvaluated', outcome, ...more });

const decide = (decision: string, resolvedBy: string, evaluations: readonly object[]): object => ({
  decision,
  resolvedBy,
  shouldContinue: decision === 'request',
  ...(decision !== 'request' && { stopReason: 'guard' }),
  evaluations,
});

const policy = (decision: string, reason: string, context: object = {}): object =>
  evaluation('ErrorPolicyCriterion', decision, { reason, context: { consecutiveFailures: 1, maxRetries: 3, ...context } });

describe('a line starts with the agent', () => {
  const finished = { ...header, type: 'CancelRequested', by: { id: 'bob', kind: 'staff' }, reason: 'too late' };

  test.each([
    { name: 'without a name', more: {}, line: 'Agent [3f2a91c0] step 4: staff bob cancelled: too late' },
    { name: 'with its name', more: { agentName: 'desk' }, line: 'Agent desk [3f2a91c0] step 4: staff bob cancelled: too late' },
    {
      name: 'a sub-agent by the name that its outer agent calls it by',
      more: { agentName: 'billing', agentId: 'run-1/4/task-1', parentAgentId: '3f2a91c0' },
      line: 'Agent billing [task-1] step 4: staff bob cancelled: too late',
    },
    {
      name: 'a chat with the participant whose turn it is',
      more: { agentName: 'room', participant: 'ann' },
      line: 'Agent room [3f2a91c0] step 4 (ann): staff bob cancelled: too late',
    },
    {
      name: 'the run inside a turn by its participant',
      more: { participant: 'ann', parentAgentId: '3f2a91c0', agentId: 'turn-1' },
      line: 'Agent ann [turn-1] step 4: staff bob cancelled: too late',
    },
    {
      name: 'a long id by its end',
      more: { agentId: '019a0000-0000-7000-8000-0000dfab690c' },
      line: 'Agent [dfab690c] step 4: staff bob cancelled: too late',
    },
  ])('$name', ({ more, line }) => {
    expect(formatEvent({ ...finished, ...more })).toBe(line);
  });
});

describe('a decision names the rule, its reason and its numbers', () => {
  test.each([
    {
      name: 'a guard with a reason',
      event: createDecision(
        decide('forbid', 'TenantFrozen', [evaluation('TenantFrozen', 'forbid', { reason: 'invoice 4711 is 93 days overdue.' })]),
      ),
      says: 'STOP (guard) TenantFrozen: invoice 4711 is 93 days overdue',
    },
    {
      name: 'a guard whose numbers are in its context, without a secret',
      event: createDecision(
        decide('forbid', 'Quota', [
          evaluation('Quota', 'forbid', { reason: 'used up', context: { used: 5, of: 4, token: 'hush', note: 'a\nb' } }),
        ]),
      ),
      says: 'STOP (guard) Quota: used up (used 5, of 4, token [redacted], note a\\nb)',
    },
    {
      name: 'two rules that forbid, once each',
      event: createDecision(
        decide('forbid', 'A', [evaluation('A', 'forbid', { reason: 'one 1' }), evaluation('B', 'forbid', { reason: 'two 2' })]),
      ),
      says: 'STOP (guard) A: one 1; also B: two 2',
    },
    {
      name: 'a person who asked to stop',
      event: createDecision(
        decide('forbid', 'StopRequested', [
          evaluation('StopRequested', 'forbid', { reason: 'customer withdrew', context: { by: 'request', person: 'bob' } }),
        ]),
      ),
      says: 'STOP (guard) StopRequested: customer withdrew (asked by bob)',
    },
    {
      name: 'a failure with its causes',
      event: createDecision(decide('forbid', 'ErrorPolicyCriterion', [policy('forbid', 'the policy stops', { toolCallId: 'c2' })]), {
        errors: [
          { type: 'tool', code: 'x', message: 'fog', toolCallId: 'c1' },
          { type: 'tool', code: 'x', message: 'charge failed', toolCallId: 'c2', causes: ['pool exhausted', 'connect ECONNREFUSED'] },
        ],
      }),
      says: 'STOP (guard) ErrorPolicyCriterion: the policy stops: charge failed ← pool exhausted ← connect ECONNREFUSED',
    },
    {
      name: 'a failure after which the run continues',
      event: createDecision(
        decide('request', 'ToolCallPresenceCheck', [
          policy('allow', 'ignored'),
          evaluation('ToolCallPresenceCheck', 'request', { reason: 'tools were called' }),
        ]),
        { errors: [{ type: 'tool', code: 'x', message: 'fog' }] },
      ),
      says: 'CONTINUE ToolCallPresenceCheck: tools were called; ErrorPolicyCriterion: ignored: fog',
    },
    {
      name: 'a limit that waits for a grant, with what is left to do',
      event: createDecision(
        decide('forbid', 'StepsLimit', [
          evaluation('StepsLimit', 'forbid', { reason: '4 of 4 steps used', limit: 'steps', atLimit: 'pause' }),
          evaluation('EveryoneHasSpoken', 'request', { reason: 'ann has not spoken' }),
        ]),
      ),
      says: 'WAIT for a grant of more steps (guard) StepsLimit: 4 of 4 steps used; left to do, EveryoneHasSpoken: ann has not spoken',
    },
    {
      name: 'a limit that asks for a summary',
      event: createDecision(
        decide('request', 'Finalize', [
          evaluation('StepsLimit', 'allow', { reason: '4 of 4 steps used', limit: 'steps', atLimit: 'finalize' }),
          evaluation('Finalize', 'request', { reason: 'one step to sum up' }),
        ]),
      ),
      says: 'CONTINUE to sum up, StepsLimit: 4 of 4 steps used',
    },
  ])('$name', ({ event, says }) => {
    expect(formatEvent(event)).toBe(`Agent [3f2a91c0] step 4: ${says}`);
  });
});

describe('waits, retries and people', () => {
  const by = { id: 'bob', kind: 'staff' };
  const usage = { total: 9, input: 6, output: 3 };

  test.each([
    {
      event: { type: 'RetryScheduled', delayMs: 1500, errorType: 'model', failures: 2, maxRetries: 3, message: 'no capacity' },
      says: 'waits 1.5 s before retry 2 of 2: no capacity',
    },
    {
      event: {
        type: 'AgentFinished',
        status: 'waiting',
        stepCount: 3,
        waitingFor: [{ type: 'approval', id: 'c1', toolName: 'pay', agent: 'billing' }],
      },
      says: 'run waits after 3 steps for approval of pay (c1, asked by billing)',
    },
    {
      event: {
        type: 'AgentFinished',
        status: 'waiting',
        stepCount: 3,
        waitingFor: [{ type: 'person', id: 'boss/4', participant: 'boss', prompt: 'Well?' }],
      },
      says: 'run waits after 3 steps for an answer from boss: Well? (boss/4)',
    },
    {
      event: {
        ...{ type: 'AgentFinished', status: 'stopped', stopReason: 'steps_limit', resolvedBy: 'StepsLimit', stepCount: 4, usage },
        grantRefused: { reason: 'enough', by: 'bob' },
      },
      says: 'run stopped after 4 steps (steps_limit), decided by StepsLimit; bob refused to grant more: enough; 9 tokens (6 in, 3 out)',
    },
    {
      event: { type: 'AgentFinished', status: 'completed', stopReason: 'steps_limit', resolvedBy: 'StepsLimit', stepCount: 4, usage },
      says: 'run completed after 4 steps, and StepsLimit was reached in the same step (steps_limit); 9 tokens (6 in, 3 out)',
    },
    {
      event: {
        type: 'AgentFailed',
        stopReason: 'error',
        resolvedBy: 'ErrorPolicyCriterion',
        stepCount: 4,
        errors: [{ toolName: 'pay', message: 'no', code: 'x' }],
      },
      says: 'run failed after 4 steps (error), decided by ErrorPolicyCriterion: pay: no (x)',
    },
    { event: { type: 'LimitsGranted', by, amounts: { steps: 1, tokens: 50 } }, says: 'staff bob granted 1 more step and 50 more tokens' },
    {
      event: { type: 'WaitResolved', by, waitId: 'c1', toolName: 'pay', decision: 'rejected', reason: 'too much' },
      says: 'staff bob rejected pay (c1): too much',
    },
    {
      event: { type: 'WaitResolved', by, waitId: 'grant/steps', decision: 'rejected', reason: 'enough' },
      says: 'staff bob refused to grant more steps: enough',
    },
    {
      event: { type: 'WaitResolved', by, waitId: 'provider', decision: 'cancelled', reason: 'no' },
      says: 'staff bob cancelled the wait for the provider: no',
    },
  ])('$says', ({ event, says }) => {
    expect(formatEvent({ ...header, ...event })).toBe(`Agent [3f2a91c0] step 4: ${says}`);
  });
});
