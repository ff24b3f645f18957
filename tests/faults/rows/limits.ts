// Runs that reach a limit.
import type { AgentState } from '../../../src/entry/index.ts';
import {
  AgentBuilder,
  createAgent,
  CumulativeExecutionTimeLimit,
  ExecutionTimeLimit,
  priceTable,
  StepsLimit,
  ToolUse,
  ToolUseState,
} from '../../../src/entry/index.ts';
import { guardHook } from '../../../src/entry/hooks.ts';
import { scriptedModel } from '../../../src/entry/testing.ts';
import type { Fault } from '../fault.ts';
import { poison } from '../poison.ts';
import { call, createHangingTool, createTool, say, usage } from '../props.ts';
import { createWorld, passTime, runIn, stageAgent, stageRun, toStaged } from '../world.ts';

const dig = createTool('dig', () => 'more to dig');
/** Digs for ever; sums up if it is asked without tools. */
const digForEver = () =>
  scriptedModel([({ tools }) => (tools === undefined ? say('So far: nothing.') : call('dig'))], { repeatLast: true });

/** A tool that takes a second on the world's clock. */
const createSlowTool = (skip: (ms: number) => void) =>
  createTool('dig', () => {
    skip(1000);
    return 'dug';
  });

export const limitFaults: readonly Fault[] = [
  {
    name: 'the limit on steps',
    stage: () => stageAgent(() => ({ model: digForEver(), tools: [dig], limits: { steps: 4 } })),
    truth: { status: 'stopped', rule: 'StepsLimit', reason: ['4 of 4'], step: 4 },
  },
  {
    name: 'the limit on steps of the named agent, reached with poisoned messages',
    stage: () =>
      stageAgent(
        () => ({
          id: 'digger',
          model: scriptedModel([{ ...call({ name: 'dig', args: { note: poison } }), text: poison }], { repeatLast: true }),
          tools: [createTool('dig', () => poison)],
          limits: { steps: 2 },
        }),
        poison,
      ),
    truth: { status: 'stopped', rule: 'StepsLimit', reason: ['2 of 2'], step: 2 },
  },
  {
    name: 'the limit on tokens',
    stage: () => stageAgent(() => ({ model: digForEver(), tools: [dig], limits: { tokens: 100 } })),
    truth: { status: 'stopped', rule: 'TokenUsageLimit', reason: ['120 of 100'], step: 2 },
  },
  {
    name: 'the limits on steps and on tokens in the same step',
    stage: () => stageAgent(() => ({ model: digForEver(), tools: [dig], limits: { steps: 2, tokens: 100 } })),
    truth: { status: 'stopped', rule: 'StepsLimit', reason: ['2 of 2'], step: 2, also: ['TokenUsageLimit', '120 of 100'] },
  },
  {
    name: 'the limit on the wall clock, while a tool runs',
    stage: () =>
      stageAgent(() => ({ model: scriptedModel([call('crawl')]), tools: [createHangingTool('crawl')], limits: { wallMs: 5000 } })),
    truth: { status: 'stopped', rule: 'ExecutionTimeLimit', reason: [/\b5 s of 5 s\b|\b5 of 5 s/], step: 1, also: ['crawl'] },
  },
  {
    name: 'the limit on the wall clock, while the model answers',
    stage: () => stageAgent(() => ({ model: scriptedModel([() => new Promise(() => undefined)]), limits: { wallMs: 7000 } })),
    truth: { status: 'stopped', rule: 'ExecutionTimeLimit', reason: [/\b7 s of 7 s\b|\b7 of 7 s/], step: 1 },
  },
  {
    name: 'the limit on active time',
    stage: () =>
      stageAgent(({ clock }) => ({
        model: scriptedModel([call('dig')], { repeatLast: true }),
        tools: [createSlowTool(clock.skip)],
        limits: { activeMs: 3000 },
      })),
    truth: { status: 'stopped', rule: 'CumulativeExecutionTimeLimit', reason: [/\b3 s of 3 s\b|\b3 of 3 s/], step: 3 },
  },
  {
    name: 'the limit on cost',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([call('dig')], { repeatLast: true }),
        tools: [dig],
        limits: { costUsd: 0.5 },
        price: priceTable({ 'scripted/script': { inputPerMillion: 5000, outputPerMillion: 5000 } }),
      })),
    truth: { status: 'stopped', rule: 'CostLimit', reason: [/0\.6 (?:USD )?of 0\.5/], step: 2 },
  },
  {
    name: 'the same call again and again',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([call({ name: 'dig', args: { place: 'garden', password: 'correct-horse-battery' } })], { repeatLast: true }),
        tools: [dig],
        limits: { repeatedToolCalls: 3 },
      })),
    truth: { status: 'stopped', rule: 'RepeatedToolCall', reason: ['dig', 'same arguments', /\b(?:3|three)\b/], step: 3 },
  },
  {
    name: 'a limit with onLimit: finalize',
    stage: () => stageAgent(() => ({ model: digForEver(), tools: [dig], limits: { steps: 3, onLimit: 'finalize' } })),
    truth: { status: 'stopped', rule: 'StepsLimit', reason: ['3 of 3'], also: [/sum(?:s|med)? up|summary/i] },
  },
  {
    name: 'a limit with onLimit: finalize, and a model that calls on in the last step',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([call('dig')], { repeatLast: true }),
        tools: [dig],
        limits: { steps: 2, onLimit: 'finalize' },
      })),
    truth: { status: 'stopped', rule: 'StepsLimit', reason: ['2 of 2'], also: ['dig'] },
  },
  {
    name: 'a limit with onLimit: pause',
    stage: () => stageAgent(() => ({ model: digForEver(), tools: [dig], limits: { steps: 3, onLimit: 'pause' } })),
    truth: { status: 'waiting', rule: 'StepsLimit', reason: ['3 of 3', /more steps/], step: 3 },
  },
  {
    name: 'a limit that was raised and reached again',
    stage: async () => {
      const world = createWorld();
      const agent = createAgent({ model: digForEver(), tools: [dig], limits: { steps: 2, onLimit: 'pause' }, ports: world.ports });
      const paused = await runIn(world, agent);
      return toStaged(world, await runIn(world, agent, paused.state.grant({ steps: 3 })));
    },
    truth: { status: 'waiting', rule: 'StepsLimit', reason: ['5 of 5', /\b2\b.*\b3 (?:were |was )?granted/], step: 5 },
  },
  {
    name: 'a paused limit that is not raised',
    stage: async () => {
      const world = createWorld();
      const agent = createAgent({ model: digForEver(), tools: [dig], limits: { tokens: 50, onLimit: 'pause' }, ports: world.ports });
      const paused = await runIn(world, agent);
      const [wait] = paused.state.waitingFor;
      return toStaged(world, await runIn(world, agent, paused.state.reject(wait?.id ?? '', `no more money ${poison}`)));
    },
    truth: { status: 'stopped', rule: 'TokenUsageLimit', reason: ['60 of 50'], step: 1, also: ['no more money'] },
  },
  {
    name: 'a paused time limit',
    stage: () =>
      stageAgent(({ clock }) => ({
        model: scriptedModel([call('dig')], { repeatLast: true }),
        tools: [createSlowTool(clock.skip)],
        limits: { activeMs: 2000, onLimit: 'pause' },
      })),
    truth: { status: 'waiting', rule: 'CumulativeExecutionTimeLimit', reason: [/\b2 s of 2 s\b|\b2 of 2 s/, /more active time/], step: 2 },
  },
  {
    name: 'a run that completes in the step that reaches a limit',
    stage: () => stageAgent(() => ({ model: scriptedModel([call('dig'), say('Found it.')]), tools: [dig], limits: { steps: 2 } })),
    truth: { status: 'completed', rule: 'StepsLimit', reason: ['2 of 2'], step: 2, explained: [/no tool|no call|no work/i] },
  },
  {
    name: 'a guard used as a hook before a step',
    stage: () =>
      stageAgent(() => ({
        model: digForEver(),
        tools: [dig],
        hooks: [
          guardHook(new StepsLimit(2, (state: { readonly stepCount: number }) => state.stepCount), {
            name: 'FewSteps',
            at: ['before_step'],
          }),
        ],
      })),
    truth: {
      status: 'stopped',
      rule: 'FewSteps',
      reason: ['2 of 2'],
      explained: [/before step 3|after step 2/i],
      untrue: ['run failed', 'Refused to start', 'limits.steps'],
    },
  },
  {
    name: 'a second limit on steps among the own criteria',
    stage: () =>
      stageAgent(() => ({
        model: digForEver(),
        tools: [dig],
        limits: { steps: 9 },
        criteria: [new StepsLimit(2, ({ stepCount }) => stepCount)],
      })),
    truth: { status: 'stopped', rule: 'StepsLimit#2', reason: ['2 of 2'], step: 2, untrue: ['limits.steps'] },
  },
  {
    name: 'an own time guard that fires as a deadline',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([call('crawl')]),
        tools: [createHangingTool('crawl')],
        criteria: [new ExecutionTimeLimit(4, ({ execution }) => execution.wallStartedAt, { name: 'Patience' })],
      })),
    truth: { status: 'stopped', rule: 'Patience', reason: [/\b4 s of 4 s\b|\b4 of 4 s/], step: 1, untrue: ['Deadline', 'limits.wallMs'] },
  },
  {
    name: 'an own guard of active time as a hook',
    stage: () =>
      stageAgent(({ clock }) => ({
        model: scriptedModel([call('dig')], { repeatLast: true }),
        tools: [createSlowTool(clock.skip)],
        hooks: [
          guardHook(new CumulativeExecutionTimeLimit(2, ({ execution }: AgentState) => execution.activeMs / 1000), {
            name: 'WorkingHours',
          }),
        ],
      })),
    truth: { status: 'stopped', rule: 'WorkingHours', reason: [/\b2 s of 2 s\b|\b2 of 2 s/], step: 2, untrue: ['limits.activeMs'] },
  },
  {
    name: 'ToolUse with its small limit on steps',
    stage: async () => {
      const world = createWorld();
      const toolUse = new ToolUse({ model: digForEver(), tools: [dig], ports: world.ports });
      const { result } = toolUse.start(ToolUseState.empty(world.ports).withUserMessage('Go.'), { onEvent: world.listen });
      return toStaged(world, await passTime(world.clock, result));
    },
    truth: { status: 'stopped', rule: 'StepsLimit', reason: ['3 of 3'], step: 3 },
  },
  {
    name: 'AgentBuilder with its limit on tokens',
    stage: () =>
      stageRun(() =>
        AgentBuilder.base()
          .withModel(scriptedModel([{ ...call('dig'), usage: { input: 30_000, output: 5000 } }], { repeatLast: true }))
          .withTools(dig)
          .build(),
      ),
    truth: { status: 'stopped', rule: 'TokenUsageLimit', reason: [/35,?000 of 32,?768/], step: 1 },
  },
  {
    name: 'a limit of no steps at all',
    stage: () => stageAgent(() => ({ model: scriptedModel([{ text: 'Never.', usage }]), limits: { steps: 0 } })),
    truth: { status: 'stopped', rule: 'StepsLimit', reason: ['0 of 0'] },
  },
];
