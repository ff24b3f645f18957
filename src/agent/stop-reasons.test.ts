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

const joinLines = (...all: readonly string[]): string => all.join('\n');

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

const rows: readonly Row[] = [
  {
    stopReason: 'completed',
    options: () => ({ model: scriptedModel([call, answer]), tools: [work()] }),
    status: 'completed',
    decision: 'stop',
    resolvedBy: 'ToolCallPresenceCheck',
    events: [...begins, ...callsTool, ...answers, ...ends],
    explanation: joinLines('Completed in step 2: the model answered and called no tools.', 'Decided by ToolCallPresenceCheck.'),
  },
  {
    stopReason: 'steps_limit',
    options: () => ({ model: scriptedModel([call, call]), tools: [work()], limits: { steps: 2 } }),
    status: 'stopped',
    decision: 'forbid',
    resolvedBy: 'StepsLimit',
    events: [...begins, ...callsTool, ...callsTool, ...ends],
    explanation: joinLines(
      'Stopped after step 2: the step limit was reached (2 of 2).',
      'Decided by StepsLimit.',
      'ToolCallPresenceCheck asked for another step: the model has not answered yet.',
      'Next: Raise limits.steps if the work needs more steps.',
    ),
  },
  {
    stopReason: 'token_limit',
    options: () => ({ model: scriptedModel([call, call]), tools: [work()], limits: { tokens: 30 } }),
    status: 'stopped',
    decision: 'forbid',
    resolvedBy: 'TokenUsageLimit',
    events: [...begins, ...callsTool, ...callsTool, ...ends],
    explanation: joinLines(
      'Stopped after step 2: the token limit was reached (30 of 30).',
      'Decided by TokenUsageLimit.',
      'ToolCallPresenceCheck asked for another step: the model has not answered yet.',
      'Next: Raise limits.tokens if the work needs more tokens.',
    ),
  },
  {
    stopReason: 'time_limit',
    options: () => ({ model: scriptedModel([call]), tools: [hangs], limits: { wallMs: 1000 } }),
    status: 'stopped',
    decision: 'forbid',
    resolvedBy: 'ExecutionTimeLimit',
    events: [...begins, ...callsTool, ...ends],
    explanation: joinLines(
      'Stopped after step 1: the time limit was reached (1 of 1 s).',
      'The step was cut off at the time limit.',
      'Decided by ExecutionTimeLimit.',
      'ToolCallPresenceCheck asked for another step: the model has not answered yet.',
      'On the way:',
      '  Step 1: work was cut off and may or may not have taken effect.',
      'Next: Raise limits.wallMs if the work needs more time.',
    ),
  },
  {
    stopReason: 'retry_limit',
    options: () => ({ model: scriptedModel([call, call]), tools: [breaks], errors: ErrorPolicy.retryToolErrors(2) }),
    status: 'failed',
    decision: 'forbid',
    resolvedBy: 'ErrorPolicyCriterion',
    events: [...begins, ...callsTool, ...callsTool, ...fails],
    explanation: joinLines(
      'Failed after step 2: second failure in a row (limit 2), the last one a tool error in work.',
      '  Steps 1 and 2: tool work, It broke (tool-failed).',
      'Decided by ErrorPolicyCriterion.',
      'ToolCallPresenceCheck asked for another step: the model has not answered yet.',
      'Next: Fix the tool, or what it depends on, then send a message to continue.',
    ),
  },
  {
    stopReason: 'error',
    options: () => ({ model: scriptedModel([call]), tools: [breaks], errors: ErrorPolicy.stopOnAnyError() }),
    status: 'failed',
    decision: 'forbid',
    resolvedBy: 'ErrorPolicyCriterion',
    events: [...begins, ...callsTool, ...fails],
    explanation: joinLines(
      'Failed in step 1: tool work, It broke (tool-failed).',
      'Decided by ErrorPolicyCriterion: the policy stops the run on a tool error in work.',
      'ToolCallPresenceCheck asked for another step: the model has not answered yet.',
      'Next: Fix the tool, or what it depends on, then send a message to continue.',
    ),
  },
  {
    stopReason: 'finish_reason',
    options: () => ({ model: scriptedModel([{ ...answer, finishReason: 'length' }]), finishReasons: ['length'] }),
    status: 'stopped',
    decision: 'forbid',
    resolvedBy: 'FinishReasonCheck',
    events: [...begins, ...answers, ...ends],
    explanation: joinLines(
      'Stopped after step 1: the answer ended with the finish reason "length", which ends the run.',
      'Decided by FinishReasonCheck.',
      'Next: Raise settings.maxOutputTokens, or ask for a shorter answer.',
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
    explanation: joinLines(
      'Stopped after step 1 by Closed: the office is closed.',
      'ToolCallPresenceCheck asked for another step: the model has not answered yet.',
      'Next: Resolve what Closed objects to, then send a message to continue.',
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
    explanation: joinLines(
      'Aborted during step 1 while work was running: the user left. work may or may not have taken effect.',
      'Decided by StopRequested.',
      'ToolCallPresenceCheck asked for another step: the model has not answered yet.',
      'Next: Send a message to continue.',
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
    expect(end.explain({ brief: true })).toBe(row.explanation);

    expect(events.map(({ type }) => type)).toStrictEqual(row.events);
    const judged = events.flatMap((event) => (event.type === 'ContinuationEvaluated' ? [event] : []));
    expect(judged.map(({ stepNumber }) => stepNumber)).toStrictEqual(end.stepResults.map(({ number }) => number));
    expect(judged.map(({ outcome }) => outcome)).toStrictEqual(end.stepResults.map(({ outcome }) => outcome));
    expect(events.at(-1)).toMatchObject({ type: 'AgentFinished', status, stopReason, resolvedBy, stepCount: end.stepCount });
    if (status === 'failed') expect(events.at(-2)).toMatchObject({ type: 'AgentFailed', status, stopReason, resolvedBy });
    expect(clock.pendingTimers()).toBe(0);
  });
});
