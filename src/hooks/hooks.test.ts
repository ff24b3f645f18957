import { describe, expect, test } from 'vitest';
import { ContinuationDecision, StepsLimit, stopWhen } from '../continuation/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import type { Hook } from './index.ts';
import { guardHook } from './index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import { Message } from '../messages/index.ts';
import type { ScriptedEntry } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import type { ToolUseEvent, ToolUseOptions } from '../tool-use/index.ts';
import { defineCapability, defineHook, ToolUse, ToolUseState } from '../tool-use/index.ts';

const anything = { type: 'object', properties: {} } as const;
const usage = { input: 10, output: 5 };
const says = (text: string): ScriptedEntry => ({ text, usage });
const calls = (name: string, args: Record<string, string> = {}): ScriptedEntry => ({ toolCalls: [{ name, args }], usage });

function setUp(script: readonly ScriptedEntry[], options: Partial<Omit<ToolUseOptions<ToolUseState>, 'model'>> = {}) {
  const [clock, ids] = [createFakeClock(), createCountingIds()];
  const model = scriptedModel(script);
  const ran: unknown[] = [];
  const problems: unknown[] = [];
  const work = defineTool({ name: 'work', description: 'Works.', input: anything, run: (args) => (ran.push(args), 'worked') });
  const ports = { clock, ids, onProblem: (problem: unknown) => problems.push(problem) };
  const orchestrator = new ToolUse({ model, tools: [work], ports, limits: { steps: 10 }, ...options });
  const start = ToolUseState.empty({ clock, ids }).withUserMessage('Go.', { ids });
  const events: ToolUseEvent[] = [];
  const run = (state = start) => orchestrator.run(state, { onEvent: (event) => events.push(event) });
  return { orchestrator, model, start, run, ran, problems, events, clock };
}

const listTypes = (events: readonly ToolUseEvent[]): readonly string[] => events.map(({ type }) => type);

describe('hooks', () => {
  test('are called at each of their points, in the order of a step', async () => {
    const seen: string[] = [];
    const note = (facts: { readonly point: string }): void => void seen.push(facts.point);
    const everywhere = defineHook({
      name: 'everywhere',
      changes: ['votes'],
      executionStart: note,
      beforeStep: note,
      beforeInference: note,
      afterInference: note,
      beforeTool: note,
      afterTool: note,
      afterStep: note,
      onError: note,
      executionEnd: note,
    });
    const { run } = setUp([calls('work'), says('Done.')], { hooks: [everywhere] });
    const end = await run();
    expect(end.status).toBe('completed');
    const step = ['before_step', 'before_inference', 'after_inference'];
    expect(seen).toStrictEqual([
      'execution_start',
      ...step,
      'before_tool',
      'after_tool',
      'after_step',
      ...step,
      'after_step',
      'execution_end',
    ]);
  });

  test('are called by order, then as they were given', async () => {
    const seen: string[] = [];
    const createHook = (name: string, order?: number): Hook<ToolUseState, unknown> =>
      defineHook({ name, ...(order !== undefined && { order }), beforeStep: () => void seen.push(name) });
    const { run } = setUp([says('Done.')], { hooks: [createHook('c', 5), createHook('a', -1), createHook('b1'), createHook('b2')] });
    await run();
    expect(seen).toStrictEqual(['a', 'b1', 'b2', 'c']);
  });

  test('change what the model reads this time, and nothing that is kept', async () => {
    const hook = defineHook({
      name: 'reminder',
      changes: ['messages', 'settings'],
      beforeInference: ({ messages, settings }) => ({
        messages: [...messages, Message.user('Be brief.')],
        settings: { ...settings, temperature: 0 },
      }),
    });
    const { run, model } = setUp([says('Done.')], { hooks: [hook] });
    const end = await run();
    expect(model.calls[0]?.messages.map(({ text }) => text)).toStrictEqual(['Go.', 'Be brief.']);
    expect(model.calls[0]?.settings).toStrictEqual({ temperature: 0 });
    expect(end.messages.toArray().map(({ text }) => text)).toStrictEqual(['Go.', 'Done.']);
  });

  test.each(['beforeStep', 'beforeInference'] as const)(
    'leave only some of the tools in %s, and a call of another one fails',
    async (point) => {
      const hook = defineHook({ name: 'no-tools', changes: ['tools'], [point]: () => ({ tools: [] }) } as never);
      const { run, model, ran } = setUp([calls('work'), says('Done.')], { hooks: [hook], errors: ErrorPolicy.retryToolErrors(3) });
      const end = await run();
      expect(model.calls[0]).not.toHaveProperty('tools');
      expect([ran, end.status, end.steps[0]?.errors[0]?.code]).toStrictEqual([[], 'completed', 'unknown-tool']);
    },
  );

  test('change the arguments of a call, and the record says what it ran with', async () => {
    const hook = defineHook({
      name: 'tenant',
      changes: ['args'],
      beforeTool: ({ call }) => ({ args: { ...(call.args as object), tenant: 't1' } }),
    });
    const { run, ran, events } = setUp([calls('work', { a: 'b' }), says('Done.')], { hooks: [hook] });
    const end = await run();
    expect(ran).toStrictEqual([{ a: 'b', tenant: 't1' }]);
    expect(end.steps[0]?.executions[0]?.args).toStrictEqual({ a: 'b', tenant: 't1' });
    expect(end.steps[0]?.toolCalls[0]?.args).toStrictEqual({ a: 'b' });
    expect(events.find(({ type }) => type === 'HookApplied')).toMatchObject({
      hook: 'tenant',
      point: 'before_tool',
      changed: ['args'],
      toolCallId: 'call-1',
    });
    expect(ToolUseState.fromJSON(JSON.parse(JSON.stringify(end))).steps).toStrictEqual(end.steps);
  });

  test.each([ErrorPolicy.stopOnAnyError(), ErrorPolicy.retryToolErrors(3)])(
    'block a call, which is its failed result and not the end',
    async (errors) => {
      const hook = defineHook({ name: 'office-hours', changes: ['block'], beforeTool: () => ({ block: 'not at night' }) });
      const { run, ran, model, events } = setUp([calls('work'), says('Tomorrow then.')], { hooks: [hook], errors });
      const end = await run();
      expect([ran, end.status, end.text, end.stepCount]).toStrictEqual([[], 'completed', 'Tomorrow then.', 2]);
      expect(end.steps[0]?.executions[0]).toMatchObject({ status: 'failed', failure: { code: 'blocked', message: 'not at night' } });
      expect(model.calls[1]?.messages.at(-1)?.toolResults[0]?.output).toStrictEqual({
        type: 'error',
        value: '"work" was not called: not at night',
      });
      expect(events.find(({ type }) => type === 'ToolCallBlocked')).toMatchObject({
        hook: 'office-hours',
        tool: 'work',
        reason: 'not at night',
      });
      expect(ToolUseState.fromJSON(JSON.parse(JSON.stringify(end))).steps).toStrictEqual(end.steps);
    },
  );

  test('answer a call without making it, and change a result', async () => {
    const cache = defineHook({ name: 'cache', changes: ['result'], beforeTool: () => ({ result: { cached: true } }) });
    const first = setUp([calls('work'), says('Done.')], { hooks: [cache] });
    expect((await first.run()).steps[0]?.executions[0]).toMatchObject({ status: 'succeeded', value: { cached: true } });
    expect(first.ran).toStrictEqual([]);
    const mask = defineHook({
      name: 'mask',
      changes: ['result'],
      afterTool: ({ execution }) => ({ result: `${JSON.stringify(execution.value)} (masked)` }),
    });
    const second = setUp([calls('work'), says('Done.')], { hooks: [mask] });
    expect((await second.run()).steps[0]?.executions[0]).toMatchObject({ status: 'succeeded', value: '"worked" (masked)' });
  });

  test('change what a step says before it is judged', async () => {
    const hook = defineHook({
      name: 'redact',
      changes: ['output'],
      afterStep: ({ step }) => (step.toolCalls.length > 0 ? undefined : { output: 'It is [hidden].' }),
    });
    const { run } = setUp([calls('work'), says('It is 42.')], {
      hooks: [hook],
      criteria: [stopWhen('Spoken', ({ text }) => (text.includes('42') ? 'it was said' : false))],
    });
    const end = await run();
    expect([end.text, end.stopReason, end.messages.at(-1)?.text]).toStrictEqual(['It is [hidden].', 'completed', 'It is [hidden].']);
  });

  test('keep metadata, which later hooks and steps read', async () => {
    const seen: unknown[] = [];
    const write = defineHook({
      name: 'write',
      changes: ['metadata'],
      beforeStep: ({ stepNumber }) => ({ metadata: { step: stepNumber } }),
    });
    const read = defineHook({ name: 'read', beforeInference: ({ state }) => void seen.push(state.metadata['step']) });
    const { run } = setUp([calls('work'), says('Done.')], { hooks: [write, read] });
    expect((await run()).metadata).toStrictEqual({ step: 2 });
    expect(seen).toStrictEqual([1, 2]);
  });

  test('vote in the one judgement, with the hook as the source', async () => {
    const hook = defineHook({
      name: 'budget',
      changes: ['votes'],
      afterStep: () => ({
        votes: { decision: ContinuationDecision.ForbidContinuation, reason: 'the tenant has no budget', context: { left: 0 } },
      }),
    });
    const { run, events } = setUp([calls('work'), says('Never.')], { hooks: [hook] });
    const end = await run();
    expect([end.status, end.stopReason, end.lastContinuationOutcome?.resolvedBy, end.stepCount]).toStrictEqual([
      'stopped',
      'guard',
      'budget',
      1,
    ]);
    expect(end.lastContinuationOutcome?.evaluations.at(-1)?.context).toStrictEqual({ point: 'after_step', left: 0 });
    expect(end.explain()).toContain('budget');
    expect(listTypes(events).filter((type) => type === 'ContinuationEvaluated')).toHaveLength(1);
  });

  test.each([
    ['beforeInference', 0],
    ['afterInference', 1],
    ['beforeTool', 1],
  ] as const)('that vote against it in %s keep what is left of the step from beginning', async (point, asked) => {
    const forbid = () => ({ votes: { decision: 'forbid' as const, reason: 'enough' } });
    const hook = defineHook({ name: 'enough', changes: ['votes'], [point]: forbid } as never);
    const { run, model, ran } = setUp([calls('work'), says('Never.')], { hooks: [hook] });
    const end = await run();
    expect([end.status, end.stopReason, end.stepCount, end.errors]).toStrictEqual(['stopped', 'guard', 1, []]);
    expect([model.calls.length, ran]).toStrictEqual([asked, []]);
    expect(end.currentStep?.interrupted).toBe('vote');
    expect(end.lastStepResult?.outcome.resolvedBy).toBe('enough');
  });

  test('that vote against a step in beforeStep end the run without recording one', async () => {
    const forbid = ({ state }: { readonly state: ToolUseState }) =>
      state.stepCount === 1 ? { votes: { decision: 'forbid' as const, reason: 'enough' } } : undefined;
    const hook = defineHook({ name: 'enough', changes: ['votes'], beforeStep: forbid } as never);
    const { run, model, events } = setUp([calls('work'), says('Never.')], { hooks: [hook] });
    const end = await run();
    expect([end.status, end.stopReason, end.stepCount, model.calls.length]).toStrictEqual(['stopped', 'guard', 1, 1]);
    expect([end.lastStepResult?.stopReason, end.lastStepResult?.number, end.errors]).toStrictEqual(['guard', 1, []]);
    expect(events.filter(({ stepNumber }) => stepNumber === 2).map(({ type }) => type)).toStrictEqual([
      'ContinuationEvaluated',
      'AgentStateUpdated',
      'AgentFinished',
    ]);
  });

  test('refuse a start by a vote, which is kept', async () => {
    const hook = defineHook({
      name: 'closed',
      changes: ['votes'],
      executionStart: () => ({ votes: { decision: 'forbid', reason: 'closed today', stopReason: 'user_requested' } }),
    });
    const { run, model } = setUp([says('Never.')], { hooks: [hook] });
    const end = await run();
    expect([end.status, end.stopReason, end.stepCount, model.calls.length]).toStrictEqual(['stopped', 'user_requested', 0, 0]);
    expect(end.startOutcome?.resolvedBy).toBe('closed');
  });

  test('look on after the judgement where they can change nothing', async () => {
    const seen: unknown[] = [];
    const hook = defineHook({
      name: 'watch',
      afterStep: ({ outcome, step }) => void seen.push([outcome.shouldContinue, step.stepType]),
      executionEnd: ({ stopReason, state }) => void seen.push([stopReason, state.status]),
    });
    const { run } = setUp([calls('work'), says('Done.')], { hooks: [hook] });
    await run();
    expect(seen).toStrictEqual([
      [true, 'tool_execution'],
      [false, 'final_response'],
      ['completed', 'completed'],
    ]);
  });

  test('ask a model as an effect, and what it uses counts', async () => {
    const critic = scriptedModel([{ text: 'fine', usage: { input: 100, output: 1 } }]);
    const hook = defineHook({
      name: 'critic',
      changes: ['metadata'],
      afterStep: async ({ ask }) => {
        const outcome = await ask(critic, { messages: [Message.user('Is it fine?')] });
        return { metadata: { critic: outcome.ok } };
      },
    });
    const { run } = setUp([says('Done.')], { hooks: [hook] });
    const end = await run();
    expect([end.usage.total, end.metadata, end.currentStep?.usage.total]).toStrictEqual([116, { critic: true }, 116]);
  });

  test('made of guards judge as the guard among the criteria would', async () => {
    const guard = guardHook(new StepsLimit<ToolUseState>(1, ({ stepCount }) => stepCount), { name: 'FewSteps' });
    const { run } = setUp([calls('work'), says('Never.')], { hooks: [guard] });
    const end = await run();
    expect([end.stopReason, end.lastContinuationOutcome?.resolvedBy, end.stepCount]).toStrictEqual(['steps_limit', 'FewSteps', 1]);
  });

  test('come in capabilities too, with tools, rules and words', async () => {
    const seen: string[] = [];
    const dig = defineTool({ name: 'dig', description: 'Digs.', input: anything, run: () => 'dug' });
    const digging = defineCapability({
      name: 'digging',
      tools: { dig },
      hooks: [defineHook({ name: 'dig-watch', afterTool: ({ call }) => void seen.push(call.name) })],
      criteria: [stopWhen<ToolUseState>('DugEnough', ({ stepCount }) => (stepCount >= 2 ? 'two steps' : false))],
      instructions: 'You may dig.',
    });
    const { run, model } = setUp([calls('dig'), calls('dig'), says('Never.')], { capabilities: [digging], instructions: 'You work.' });
    const end = await run();
    expect([end.lastContinuationOutcome?.resolvedBy, seen]).toStrictEqual(['DugEnough', ['dig', 'dig']]);
    expect(model.calls[0]?.messages[0]?.text).toBe('You work.\n\nYou may dig.');
    expect(() => setUp([], { capabilities: [digging, digging] })).toThrow('The capability "digging" was added twice');
  });
});
