// The names of the design documents, at the entry points at which their readers look for them.
import { describe, expect, it } from 'vitest';
import * as root from '../src/entry/index.ts';
import {
  AgentState,
  ContinuationCriteria,
  ContinuationEvaluation,
  ContinuationOutcome,
  ErrorPolicy,
  StepResult,
  StepsLimit,
  Usage,
} from '../src/entry/index.ts';
import type { AgentStep, StateInfo } from '../src/entry/index.ts';
import { createFakeClock, createCountingIds } from '../src/entry/testing.ts';
import { entryPoints } from '../scripts/entry-points.mjs';
import { readDeclarations, readExportedNames } from '../scripts/exported-names.mjs';

const documented: Readonly<Record<string, readonly string[]>> = {
  '.': [
    ...['ContinuationDecision', 'canContinueWith', 'StopReason', 'ContinuationEvaluation', 'ContinuationOutcome', 'ContinuationCriteria'],
    ...['CanDecideToContinue', 'CanExplainContinuation'],
    ...['ErrorType', 'ErrorHandlingDecision', 'ErrorContext', 'ErrorPolicy', 'CanResolveErrorContext', 'AgentErrorContextResolver'],
    ...['ErrorPolicyCriterion', 'StepsLimit', 'TokenUsageLimit', 'ExecutionTimeLimit', 'CumulativeExecutionTimeLimit', 'FinishReasonCheck'],
    ...['ToolCallPresenceCheck', 'ErrorPresenceCheck', 'RetryLimit'],
    ...['AgentBuilder', 'Agent', 'AgentState', 'AgentStep', 'StateInfo', 'StepResult'],
    ...['AgentEvent', 'ContinuationEvaluated', 'AgentStepStarted', 'AgentStepCompleted', 'ToolCallStarted', 'ToolCallCompleted'],
    ...['SlimSerializationConfig', 'CanSerializeAgentState', 'SlimAgentStateSerializer'],
    ...['ToolUse', 'ToolUseState', 'ToolUseStep', 'ToolExecutions', 'Message', 'MessageRole', 'RateLimitedError', 'TimedOutError'],
  ],
  './chat': ['Chat', 'ChatState', 'ChatStep'],
  './collaboration': ['Collaboration', 'CollaborationState', 'CollaborationStep'],
  './step-by-step': ['StepByStep'],
  './hooks': ['guardHook'],
  './capabilities': ['selfCritique'],
};

const listNames = (entry: string): readonly string[] => {
  const source = entryPoints.find(({ name }) => name === entry)?.source ?? '';
  const { values, types } = readExportedNames(source);
  return [...values, ...types];
};

describe('the names of the design documents', () => {
  it.each(Object.entries(documented))('are exported by %s', (entry, names) => {
    expect(names.filter((name) => !listNames(entry).includes(name))).toStrictEqual([]);
  });

  it.each(['evaluateAll', 'criterionClass', 'RateLimitException', 'TimeoutException', 'StepsLimitHook', 'AgentLoop', 'ExecutionState'])(
    'do not include %s, which has another name or no place here',
    (name) => {
      for (const entry of Object.keys(documented)) expect(listNames(entry)).not.toContain(name);
    },
  );
});

describe('a name that two entry points export', () => {
  it('is the same declaration in both', () => {
    const found = new Map<string, Set<string>>();
    for (const { source } of entryPoints)
      for (const [name, declaration] of readDeclarations(source)) found.set(name, (found.get(name) ?? new Set()).add(declaration));
    expect(found.size).toBeGreaterThan(300);
    expect([...found].filter(([, declarations]) => declarations.size > 1).map(([name]) => name)).toStrictEqual([]);
  });

  it('is never a name of TypeScript itself', () => {
    const builtIn = [
      'Awaited',
      'Record',
      'Partial',
      'Pick',
      'Omit',
      'Readonly',
      'Required',
      'Parameters',
      'ReturnType',
      'Error',
      'Event',
      'Promise',
    ];
    const all = entryPoints.flatMap(({ name }) => listNames(name));
    expect(all.filter((name) => builtIn.includes(name))).toStrictEqual([]);
  });
});

describe('the documented constructors and members', () => {
  const clock = createFakeClock();
  const ids = createCountingIds();
  const go = new ContinuationEvaluation({ criterion: 'Work', decision: 'request' });
  const outcome = new ContinuationOutcome({ decision: 'request', resolvedBy: 'Work', evaluations: [go] });
  const step: AgentStep = {
    ...{ id: 'step', outputMessages: [root.Message.assistant('Looking.', { ids })], usage: Usage.of({ input: 3, output: 2 }), errors: [] },
    ...{ stepType: 'final_response', toolCalls: [], executions: [] },
  };
  const timing = { startedAt: 10, endedAt: 30, activeMs: 20, waitedMs: 0 };
  const start = AgentState.empty({ clock, ids }).withUserMessage('Look.', { ids });

  it('make criteria, evaluations, outcomes and policies', () => {
    const criteria = new ContinuationCriteria<number>(new StepsLimit(3, (steps) => steps));
    expect(criteria.evaluate(3).stopReason).toBe('steps_limit');
    expect(outcome.shouldContinue).toBe(true);
    expect(new ErrorPolicy({ onToolError: 'retry', maxRetries: 2 }).maxRetries).toBe(2);
    expect(new root.ToolExecutions().hasErrors).toBe(false);
  });

  it('record a step result', () => {
    const result = new StepResult(step, outcome, { number: 1, timing });
    const state = start.recordStepResult(result, { ids });
    expect(state.lastStepResult).toBe(result);
    expect(state.lastContinuationOutcome).toBe(outcome);
    expect([state.stepCount, state.status, state.usage.total, state.messages.at(-1)?.text]).toStrictEqual([
      1,
      'in_progress',
      5,
      'Looking.',
    ]);
    expect([state.info.updatedAt, state.info.cumulativeExecutionSeconds]).toStrictEqual([30, 0.02]);
    expect(AgentState.fromJSON(JSON.parse(JSON.stringify(state))).stepResults).toStrictEqual(state.stepResults);
    expect(start.stepCount).toBe(0);
  });

  it('record step results without a number: each gets the next one', () => {
    const state = start.recordStepResult(new StepResult(step, outcome), { ids }).recordStepResult(new StepResult(step, outcome), { ids });
    expect(state.stepResults.map(({ number }) => number)).toStrictEqual([1, 2]);
    expect(AgentState.fromJSON(JSON.parse(JSON.stringify(state))).stepResults).toStrictEqual(state.stepResults);
  });

  it('refuse a step result that does not come next', () => {
    const end = new ContinuationOutcome({
      decision: 'stop',
      resolvedBy: 'Work',
      stopReason: 'completed',
      evaluations: [new ContinuationEvaluation({ criterion: 'Work', decision: 'stop' })],
    });
    const second = new StepResult(step, outcome, { number: 2, timing });
    expect(() => start.recordStepResult(second)).toThrow('The result has the number 2, but the next step is step 1.');
    const ended = start.recordStepResult(new StepResult(step, end, { number: 1, timing }));
    expect(ended.status).toBe('completed');
    expect(() => ended.recordStepResult(second)).toThrow('The execution has ended.');
  });

  it('continue a run after a recorded step, which emits no events', async () => {
    const { scriptedModel } = await import('../src/entry/testing.ts');
    const events: string[] = [];
    const agent = root.createAgent({ model: scriptedModel([{ text: 'Found.' }]), ports: { clock, ids } });
    const state = await agent.run(start.recordStepResult(new StepResult(step, outcome, { number: 1, timing }), { ids }), {
      onEvent: ({ type, stepNumber }) => events.push(`${type} ${stepNumber}`),
    });
    expect([state.status, state.stepCount, state.text]).toStrictEqual(['completed', 2, 'Found.']);
    expect(events.filter((event) => event.startsWith('ContinuationEvaluated'))).toStrictEqual(['ContinuationEvaluated 2']);
  });

  it('know when the run began, in this process only', async () => {
    const { scriptedModel } = await import('../src/entry/testing.ts');
    const startedAt = clock.now();
    const seen: (number | undefined)[] = [];
    const watch = root.stopWhen<AgentState>('Watch', ({ info }: { readonly info: StateInfo }) => {
      seen.push(info.executionStartedAt);
      return false;
    });
    const agent = root.createAgent({ model: scriptedModel([{ text: 'Found.' }]), criteria: [watch], ports: { clock, ids } });
    const state = await agent.run(start);
    expect(start.info.executionStartedAt).toBeUndefined();
    expect(seen).toContain(startedAt);
    expect(AgentState.fromJSON(JSON.parse(JSON.stringify(state))).info.executionStartedAt).toBeUndefined();
  });
});
