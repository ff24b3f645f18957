// The nine reasons to stop, on all four orchestrators: each is reached by a real run, recorded, told, put in words and kept in JSON.
import { describe, expect, test } from 'vitest';
import { pickSubjects } from './support/test-scale.ts';
import type { ChatOptions, Participant } from '../src/chat/index.ts';
import { ChatState, createChat, functionParticipant, llmParticipant, scriptedParticipant } from '../src/chat/index.ts';
import { CollaborationState, createCollaboration, scriptedCollaborator } from '../src/collaboration/index.ts';
import type { BaseEvent } from '../src/entry/index.ts';
import type { ToolUseOptions } from '../src/tool-use/index.ts';
import type { RunState } from '../src/step-by-step/index.ts';
import { AgentState, createAgent, ErrorPolicy, StopReason, stopWhen, ToolFailedError, ToolUse, ToolUseState } from '../src/entry/index.ts';
import { ContinuationDecision, when } from '../src/continuation/index.ts';
import type { Tool, ToolContext } from '../src/tools/index.ts';
import { defineTool } from '../src/tools/index.ts';
import type { ScriptedAnswer } from '../src/testing/index.ts';
import { createCountingIds, createFakeClock, scriptedModel } from '../src/testing/index.ts';

type ModelOptions = Omit<ToolUseOptions<ToolUseState>, 'ports'>;
type TurnOptions = Pick<ChatOptions, 'limits' | 'errors' | 'finishReasons'> & {
  readonly participants: readonly Participant[];
  /** Ends the run for this reason once a step was taken. */
  readonly guard?: string;
};

/** An orchestrator, as this table needs it. */
interface Subject {
  readonly orchestrator: string;
  readonly drivenBy: string;
  /** Set if a row that fails throws in a function of the host that is not a tool. */
  readonly reportsThrown?: boolean;
  readonly run: (
    row: Row,
    at: {
      readonly host: AbortController;
      readonly ports: { readonly clock: ReturnType<typeof createFakeClock>; readonly ids: () => string };
    },
    onEvent: (event: BaseEvent) => void,
  ) => Promise<RunState>;
  readonly restore: (stored: unknown) => RunState;
}

const goOn = when('GoOn', () => ContinuationDecision.RequestContinuation);
const createGuard = (guard: string) => stopWhen<{ readonly stepCount: number }>('Closed', ({ stepCount }) => stepCount > 0 && guard);

const subjects: Readonly<Record<'ToolUse' | 'Agent' | 'Chat' | 'Collaboration', Subject>> = {
  ToolUse: {
    orchestrator: 'tool-use',
    drivenBy: 'ToolCallPresenceCheck',
    run: ({ model }, { host, ports }, onEvent) =>
      new ToolUse({ ...model(host), ports }).run(ToolUseState.empty(ports).withUserMessage('Go.', ports), {
        signal: host.signal,
        onEvent,
      }),
    restore: ToolUseState.fromJSON,
  },
  Agent: {
    orchestrator: 'agent',
    drivenBy: 'ToolCallPresenceCheck',
    run: ({ model }, { host, ports }, onEvent) =>
      createAgent({ ...model(host), ports }).run(AgentState.empty(ports).withUserMessage('Go.', ports), { signal: host.signal, onEvent }),
    restore: AgentState.fromJSON,
  },
  Chat: {
    orchestrator: 'chat',
    drivenBy: 'EveryoneHasSpoken',
    reportsThrown: true,
    run: ({ turns }, { host, ports }, onEvent) => {
      const { guard, ...options } = turns(host);
      const chat = createChat({ ...options, ...(guard !== undefined && { criteria: [goOn, createGuard(guard)] }), ports });
      return chat.run(ChatState.empty(ports).withUserMessage('Go.', ports), { signal: host.signal, onEvent });
    },
    restore: ChatState.fromJSON,
  },
  Collaboration: {
    orchestrator: 'collaboration',
    drivenBy: 'TaskCompletion',
    reportsThrown: true,
    run: ({ turns }, { host, ports }, onEvent) => {
      const { guard, participants, ...options } = turns(host);
      const lead = scriptedCollaborator({ name: 'lead', says: [{ text: 'Done.', writes: { draft: 'x' }, approves: ['draft'] }] });
      const collaboration = createCollaboration({
        ...options,
        ...(guard !== undefined && { criteria: [goOn, createGuard(guard)] }),
        collaborators: [...participants, lead],
        done: { approvedBy: ['lead'] },
        ports,
      });
      return collaboration.run(CollaborationState.empty(ports).withUserMessage('Go.', ports), { signal: host.signal, onEvent });
    },
    restore: CollaborationState.fromJSON,
  },
};

const usage = { input: 10, output: 5 };
const call: ScriptedAnswer = { toolCalls: [{ name: 'work' }], usage };
const answer: ScriptedAnswer = { text: 'Done.', usage };
const work = (run: (ctx: ToolContext) => unknown = () => 'worked'): Tool =>
  defineTool({ name: 'work', description: 'Works.', input: { type: 'object' }, run: (_args, ctx) => run(ctx) });
const breaks = work(() => {
  throw new ToolFailedError('It broke.');
});
const forEver = (): Promise<never> => new Promise(() => undefined);

const speaks = (name: string): Participant => scriptedParticipant({ name, says: ['x'] });
const createModelParticipant = (said: ScriptedAnswer = answer): Participant =>
  llmParticipant({ name: 'model', model: scriptedModel([said], { repeatLast: true }) });
const doing = (name: string, speak: () => string | Promise<string>): Participant => functionParticipant({ name, speak });
const broken = doing('broken', () => Promise.reject(new ToolFailedError('It broke.')));

/** One reason: what leads to it, and all that must follow. */
interface Row {
  readonly stopReason: StopReason;
  readonly status: 'completed' | 'stopped' | 'failed';
  /** `driver` stands for whoever asks for more work in that orchestrator. */
  readonly resolvedBy: string;
  readonly model: (host: AbortController) => ModelOptions;
  readonly turns: (host: AbortController) => TurnOptions;
  readonly words: RegExp;
}

const rows: readonly Row[] = [
  {
    stopReason: 'completed',
    status: 'completed',
    resolvedBy: 'driver',
    model: () => ({ model: scriptedModel([call, answer]), tools: [work()] }),
    turns: () => ({ participants: [createModelParticipant(), speaks('other')] }),
    words: /^Completed in step [23](?: \(turn of \w+\))?: /,
  },
  {
    stopReason: 'steps_limit',
    status: 'stopped',
    resolvedBy: 'StepsLimit',
    model: () => ({ model: scriptedModel([call]), tools: [work()], limits: { steps: 1 } }),
    turns: () => ({ participants: [createModelParticipant(), speaks('other')], limits: { steps: 1 } }),
    words: /the step limit was reached \(1 of 1\)/,
  },
  {
    stopReason: 'token_limit',
    status: 'stopped',
    resolvedBy: 'TokenUsageLimit',
    model: () => ({ model: scriptedModel([call]), tools: [work()], limits: { tokens: 15 } }),
    turns: () => ({ participants: [createModelParticipant(), speaks('other')], limits: { tokens: 15 } }),
    words: /the token limit was reached \(15 of 15\)/,
  },
  {
    stopReason: 'time_limit',
    status: 'stopped',
    resolvedBy: 'ExecutionTimeLimit',
    model: () => ({ model: scriptedModel([call]), tools: [work(forEver)], limits: { wallMs: 1000 } }),
    turns: () => ({ participants: [doing('slow', forEver), speaks('other')], limits: { wallMs: 1000 } }),
    words: /cut off at the time limit/,
  },
  {
    stopReason: 'retry_limit',
    status: 'failed',
    resolvedBy: 'ErrorPolicyCriterion',
    model: () => ({ model: scriptedModel([call, call]), tools: [breaks], errors: ErrorPolicy.retryToolErrors(2) }),
    turns: () => ({ participants: [broken, speaks('other')], errors: ErrorPolicy.retryAll(2).withBackoff({ baseMs: 0 }) }),
    words: /second failure in a row \(limit 2\)/,
  },
  {
    stopReason: 'error',
    status: 'failed',
    resolvedBy: 'ErrorPolicyCriterion',
    model: () => ({ model: scriptedModel([call]), tools: [breaks], errors: ErrorPolicy.stopOnAnyError() }),
    turns: () => ({ participants: [broken, speaks('other')] }),
    words: /^Failed in step 1.*It broke/,
  },
  {
    stopReason: 'finish_reason',
    status: 'stopped',
    resolvedBy: 'FinishReasonCheck',
    model: () => ({ model: scriptedModel([{ ...answer, finishReason: 'length' }]), finishReasons: ['length'] }),
    turns: () => ({ participants: [createModelParticipant({ ...answer, finishReason: 'length' }), speaks('other')] }),
    words: /finish reason "length"/,
  },
  {
    stopReason: 'guard',
    status: 'stopped',
    resolvedBy: 'Closed',
    model: () => ({ model: scriptedModel([call]), tools: [work()], criteria: [createGuard('the office is closed')] }),
    turns: () => ({ participants: [createModelParticipant(), speaks('other')], guard: 'the office is closed' }),
    words: /Closed: the office is closed\./,
  },
  {
    stopReason: 'user_requested',
    status: 'stopped',
    resolvedBy: 'StopRequested',
    model: (host) => ({
      model: scriptedModel([call]),
      tools: [
        work(() => {
          host.abort('the user left');
          return forEver();
        }),
      ],
    }),
    turns: (host) => ({
      participants: [
        doing('leaving', () => {
          host.abort('the user left');
          return forEver();
        }),
        speaks('other'),
      ],
    }),
    words: /^Aborted during step 1.*the user left\./,
  },
];

async function play({ run }: Subject, row: Row) {
  const problems: unknown[] = [];
  const onProblem = (problem: unknown): number => problems.push(problem);
  const ports = { clock: createFakeClock(), ids: createCountingIds(), random: () => 0, onProblem };
  const events: BaseEvent[] = [];
  const running = run(row, { host: new AbortController(), ports }, (event) => events.push(event));
  await ports.clock.advance(1000);
  return { end: await running, events, problems, clock: ports.clock };
}

test('the table has every reason once', () => {
  expect(rows.map(({ stopReason }) => stopReason).toSorted()).toStrictEqual(Object.values(StopReason).toSorted());
});

describe.each(pickSubjects(Object.entries(subjects)))('%s', (_name, subject) => {
  test.each(rows)('$stopReason', async (row) => {
    const { stopReason, status, words } = row;
    const resolvedBy = row.resolvedBy === 'driver' ? subject.drivenBy : row.resolvedBy;
    const { end, events, problems, clock } = await play(subject, row);

    // On the state, on the last step and on what was decided about it.
    expect([end.status, end.stopReason]).toStrictEqual([status, stopReason]);
    expect(end.lastContinuationOutcome).toMatchObject({ stopReason, resolvedBy, shouldContinue: false });
    expect(end.lastStepResult?.outcome).toBe(end.lastContinuationOutcome);
    expect([end.lastStepResult?.stopReason, end.lastStepResult?.shouldContinue]).toStrictEqual([stopReason, false]);
    expect(end.stepResults.slice(0, -1).every(({ shouldContinue }) => shouldContinue)).toBe(true);

    // In words.
    const explanation = end.explain();
    expect(explanation).toContain(resolvedBy);
    expect(explanation).toMatch(words);

    // In the events of the orchestrator itself, last of all and once.
    const own = events.filter(({ agentId }) => agentId === end.agentId);
    const { orchestrator } = subject;
    expect(own.at(-1)).toBe(events.at(-1));
    expect(own.at(-1)).toMatchObject({ type: 'AgentFinished', orchestrator, status, stopReason, resolvedBy, stepCount: end.stepCount });
    expect(own.filter(({ type }) => type === 'AgentFinished')).toHaveLength(1);
    const failed = own.filter(({ type }) => type === 'AgentFailed');
    expect(failed).toHaveLength(status === 'failed' ? 1 : 0);
    for (const event of failed) expect(event).toMatchObject({ stopReason, resolvedBy });
    const judged = own.filter(({ type }) => type === 'ContinuationEvaluated');
    expect(judged.at(-1)).toMatchObject({ outcome: { stopReason, resolvedBy } });
    expect(judged).toHaveLength(end.stepCount);

    // In JSON.
    const read = subject.restore(JSON.parse(JSON.stringify(end)));
    expect([read.status, read.stopReason, read.lastStepResult?.stopReason]).toStrictEqual([status, stopReason, stopReason]);
    expect(read.lastContinuationOutcome).toStrictEqual(end.lastContinuationOutcome);
    expect(read.explain()).toBe(explanation);
    expect(JSON.parse(JSON.stringify(events.at(-1)))).toMatchObject({ type: 'AgentFinished', stopReason, resolvedBy });

    // What the function of a participant threw is reported as well; what a tool threw is not.
    const isReported = status === 'failed' && subject.reportsThrown === true;
    expect(problems).toStrictEqual(isReported ? end.stepResults.map(() => new ToolFailedError('It broke.')) : []);
    expect(clock.pendingTimers()).toBe(0);
  });
});
