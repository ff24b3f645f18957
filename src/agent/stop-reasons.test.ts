// The nine reasons to stop, on both orchestrators that ask a model: how each is recorded, emitted and explained.
import { describe, expect, test } from 'vitest';
import { StopReason, stopWhen } from '../continuation/index.ts';
import { ErrorPolicy, ToolFailedError } from '../errors/index.ts';
import type { FakeClock } from '../lib/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { StepByStep } from '../step-by-step/index.ts';
import type { ScriptedAnswer } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import type { ToolEvent, ToolUseOptions } from '../tool-use/index.ts';
import { ToolUse, ToolUseState } from '../tool-use/index.ts';
import type { Tool, ToolContext } from '../tools/index.ts';
import { defineTool } from '../tools/index.ts';
import { AgentState, createAgent } from './index.ts';

type Options = ToolUseOptions<ToolUseState>;

const subjects = {
  ToolUse: {
    open: (options: Options): StepByStep<ToolUseState, unknown, unknown, ToolEvent> => new ToolUse(options),
    empty: ToolUseState.empty,
  },
  createAgent: {
    open: (options: Options): StepByStep<ToolUseState, unknown, unknown, ToolEvent> => createAgent(options),
    empty: AgentState.empty,
  },
} as const;
type Name = keyof typeof subjects;

const usage = { input: 10, output: 5 };
const call: ScriptedAnswer = { toolCalls: [{ name: 'work' }], usage };
const answer: ScriptedAnswer = { text: 'Done.', usage };

const work = (run: (ctx: ToolContext) => unknown = () => 'worked'): Tool =>
  defineTool({ name: 'work', description: 'Works.', input: { type: 'object' }, run: (_args, ctx) => run(ctx) });
const breaks = work(() => {
  throw new ToolFailedError('It broke.');
});
const hangs = work(() => new Promise(() => undefined));

/** One reason: what leads to it, and everything that must follow. */
interface Row {
  readonly stopReason: StopReason;
  readonly options: (host: AbortController) => Omit<Options, 'ports'>;
  readonly status: 'completed' | 'stopped' | 'failed';
  readonly decision: 'forbid' | 'stop';
  readonly resolvedBy: string;
  /** The types of all events, in order. */
  readonly events: readonly string[];
  readonly explanation: string;
}

const begins = ['AgentExecutionStarted'];
const asks = ['AgentStepStarted', 'InferenceStarted'];
const runsTool = ['ToolCallStarted', 'ToolCallCompleted'];
const isRecorded = ['ContinuationEvaluated', 'AgentStateUpdated', 'AgentStepCompleted', 'TokenUsageReported'];
const answers = [...asks, 'TextDelta', ...isRecorded];
const callsTool = [...asks, ...runsTool, ...isRecorded];
const ends = ['AgentFinished'];
const fails = ['AgentFailed', 'AgentFinished'];

const lines = (...text: readonly string[]): string => text.join('\n');
const goingOn = 'ToolCallPresenceCheck asked to go on: the model has messages to answer.';
const lettingGo = 'ToolCallPresenceCheck let go: no tool call is left to answer.';

const rows: readonly Row[] = [
  {
    stopReason: 'completed',
    options: () => ({ model: scriptedModel([call, answer]), tools: [work()] }),
    status: 'completed',
    decision: 'stop',
    resolvedBy: 'ToolCallPresenceCheck',
    events: [...begins, ...callsTool, ...answers, ...ends],
    explanation: lines(
      'Finished after step 2: completed.',
      lettingGo,
      'Seven other criteria had nothing against going on: StopRequested, ErrorPolicyCriterion, StepsLimit, TokenUsageLimit, ExecutionTimeLimit, FinishReasonCheck, PendingRetry.',
    ),
  },
  {
    stopReason: 'steps_limit',
    options: () => ({ model: scriptedModel([call, call]), tools: [work()], limits: { steps: 2 } }),
    status: 'stopped',
    decision: 'forbid',
    resolvedBy: 'StepsLimit',
    events: [...begins, ...callsTool, ...callsTool, ...ends],
    explanation: lines(
      'Stopped after step 2: steps_limit.',
      'StepsLimit: 2 of 2 steps used, limit reached.',
      goingOn,
      'Six other criteria would have gone on: StopRequested, ErrorPolicyCriterion, TokenUsageLimit, ExecutionTimeLimit, FinishReasonCheck, PendingRetry.',
    ),
  },
  {
    stopReason: 'token_limit',
    options: () => ({ model: scriptedModel([call, call]), tools: [work()], limits: { tokens: 30 } }),
    status: 'stopped',
    decision: 'forbid',
    resolvedBy: 'TokenUsageLimit',
    events: [...begins, ...callsTool, ...callsTool, ...ends],
    explanation: lines(
      'Stopped after step 2: token_limit.',
      'TokenUsageLimit: 30 of 30 tokens used, limit reached.',
      goingOn,
      'Six other criteria would have gone on: StopRequested, ErrorPolicyCriterion, StepsLimit, ExecutionTimeLimit, FinishReasonCheck, PendingRetry.',
    ),
  },
  {
    stopReason: 'time_limit',
    options: () => ({ model: scriptedModel([call]), tools: [hangs], limits: { wallMs: 1000 } }),
    status: 'stopped',
    decision: 'forbid',
    resolvedBy: 'ExecutionTimeLimit',
    events: [...begins, ...callsTool, ...ends],
    explanation: lines(
      'Stopped after step 1: time_limit.',
      'The step was cut off at the time limit.',
      'ExecutionTimeLimit: 1 s of 1 s on the wall clock used, limit reached.',
      goingOn,
      'Six other criteria would have gone on: StopRequested, ErrorPolicyCriterion, StepsLimit, TokenUsageLimit, FinishReasonCheck, PendingRetry.',
    ),
  },
  {
    stopReason: 'retry_limit',
    options: () => ({ model: scriptedModel([call, call]), tools: [breaks], errors: ErrorPolicy.retryToolErrors(2) }),
    status: 'failed',
    decision: 'forbid',
    resolvedBy: 'ErrorPolicyCriterion',
    events: [...begins, ...callsTool, ...callsTool, ...fails],
    explanation: lines(
      'Stopped after step 2: retry_limit.',
      'Failed: tool error in work (tool-failed): It broke.',
      'ErrorPolicyCriterion: tool error in work: attempt 2 failed, 2 allowed.',
      goingOn,
      'Six other criteria would have gone on: StopRequested, StepsLimit, TokenUsageLimit, ExecutionTimeLimit, FinishReasonCheck, PendingRetry.',
    ),
  },
  {
    stopReason: 'error',
    options: () => ({ model: scriptedModel([call]), tools: [breaks], errors: ErrorPolicy.stopOnAnyError() }),
    status: 'failed',
    decision: 'forbid',
    resolvedBy: 'ErrorPolicyCriterion',
    events: [...begins, ...callsTool, ...fails],
    explanation: lines(
      'Stopped after step 1: error.',
      'Failed: tool error in work (tool-failed): It broke.',
      'ErrorPolicyCriterion: tool error in work: the policy stops.',
      goingOn,
      'Six other criteria would have gone on: StopRequested, StepsLimit, TokenUsageLimit, ExecutionTimeLimit, FinishReasonCheck, PendingRetry.',
    ),
  },
  {
    stopReason: 'finish_reason',
    options: () => ({ model: scriptedModel([{ ...answer, finishReason: 'length' }]), finishReasons: ['length'] }),
    status: 'stopped',
    decision: 'forbid',
    resolvedBy: 'FinishReasonCheck',
    events: [...begins, ...answers, ...ends],
    explanation: lines(
      'Stopped after step 1: finish_reason.',
      'FinishReasonCheck: finish reason "length" is among length.',
      lettingGo,
      'Six other criteria would have gone on: StopRequested, ErrorPolicyCriterion, StepsLimit, TokenUsageLimit, ExecutionTimeLimit, PendingRetry.',
    ),
  },
  {
    stopReason: 'guard',
    options: () => ({
      model: scriptedModel([call]),
      tools: [work()],
      criteria: [stopWhen('Closed', ({ stepCount }) => stepCount > 0 && 'the office is closed')],
    }),
    status: 'stopped',
    decision: 'forbid',
    resolvedBy: 'Closed',
    events: [...begins, ...callsTool, ...ends],
    explanation: lines(
      'Stopped after step 1: guard.',
      'Closed: the office is closed.',
      goingOn,
      'Seven other criteria would have gone on: StopRequested, ErrorPolicyCriterion, StepsLimit, TokenUsageLimit, ExecutionTimeLimit, FinishReasonCheck, PendingRetry.',
    ),
  },
  {
    stopReason: 'user_requested',
    options: (host) => ({
      model: scriptedModel([call]),
      tools: [
        work(() => {
          host.abort('the user left');
          return new Promise(() => undefined);
        }),
      ],
    }),
    status: 'stopped',
    decision: 'forbid',
    resolvedBy: 'StopRequested',
    events: [...begins, ...callsTool, ...ends],
    explanation: lines(
      'Stopped after step 1: user_requested.',
      'The step was cut off by the signal.',
      'StopRequested: the user left.',
      goingOn,
      'Six other criteria would have gone on: ErrorPolicyCriterion, StepsLimit, TokenUsageLimit, ExecutionTimeLimit, FinishReasonCheck, PendingRetry.',
    ),
  },
];

async function play(name: Name, { options }: Row) {
  const clock: FakeClock = createFakeClock();
  const ids = createCountingIds('id');
  const host = new AbortController();
  const events: ToolEvent[] = [];
  const { open, empty } = subjects[name];
  const orchestrator = open({ ...options(host), ports: { clock, ids } });
  const start = empty({ clock, ids }).withUserMessage('Go.', { ids });
  const running = orchestrator.run(start, { signal: host.signal, onEvent: (event) => events.push(event) });
  await clock.advance(1000);
  return { end: await running, events, clock };
}

test('the table has every reason once', () => {
  expect(rows.map(({ stopReason }) => stopReason).toSorted()).toStrictEqual(Object.values(StopReason).toSorted());
});

describe.each(Object.keys(subjects) as Name[])('%s', (name) => {
  test.each(rows)('$stopReason: is recorded, told and explained', async (row) => {
    const { end, events, clock } = await play(name, row);
    const { stopReason, status, decision, resolvedBy } = row;
    expect([end.status, end.stopReason]).toStrictEqual([status, stopReason]);
    expect(end.lastContinuationOutcome).toMatchObject({ decision, resolvedBy, shouldContinue: false, stopReason });
    expect(end.lastStepResult?.outcome).toBe(end.lastContinuationOutcome);
    expect([end.lastStepResult?.shouldContinue, end.lastStepResult?.stopReason]).toStrictEqual([false, stopReason]);
    expect(end.explain()).toBe(row.explanation);

    expect(events.map(({ type }) => type)).toStrictEqual(row.events);
    const judged = events.flatMap((event) => (event.type === 'ContinuationEvaluated' ? [event] : []));
    expect(judged.map(({ stepNumber }) => stepNumber)).toStrictEqual(end.stepResults.map(({ number }) => number));
    expect(judged.map(({ outcome }) => outcome)).toStrictEqual(end.stepResults.map(({ outcome }) => outcome));
    expect(events.at(-1)).toMatchObject({ type: 'AgentFinished', status, stopReason, resolvedBy, stepCount: end.stepCount });
    if (status === 'failed') expect(events.at(-2)).toMatchObject({ type: 'AgentFailed', status, stopReason, resolvedBy });
    expect(clock.pendingTimers()).toBe(0);
  });
});
