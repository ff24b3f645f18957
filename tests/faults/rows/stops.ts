// Runs that somebody stops, and answers that end in an unusual way.
import { createAgent } from '../../../src/entry/index.ts';
import { scriptedModel } from '../../../src/entry/testing.ts';
import type { Fault } from '../fault.ts';
import { forged, poison } from '../poison.ts';
import { call, createTool, fail, say, usage } from '../props.ts';
import { createWorld, passTime, runIn, stageAgent, toStaged } from '../world.ts';

const pressed = 'operator pressed stop';
const finished = /no tool|no call|no work/i;

export const stopFaults: readonly Fault[] = [
  {
    name: 'an abort while a tool runs',
    stage: () =>
      stageAgent(({ host }) => ({
        model: scriptedModel([call('crawl')]),
        tools: [
          createTool('crawl', () => {
            host.abort(`${pressed}${forged}`);
            return new Promise(() => undefined);
          }),
        ],
      })),
    truth: {
      status: 'stopped',
      rule: 'StopRequested',
      reason: [pressed],
      step: 1,
      also: ['crawl', /may or may not have/],
    },
  },
  {
    name: 'an abort while the model answers',
    stage: () =>
      stageAgent(({ host }) => ({
        model: scriptedModel([
          () => {
            host.abort(new Error(`${pressed} ${poison}`));
            return new Promise(() => undefined);
          },
        ]),
      })),
    truth: { status: 'stopped', rule: 'StopRequested', reason: [pressed], step: 1 },
  },
  {
    name: 'an abort before the start',
    stage: async () => {
      const world = createWorld();
      world.host.abort(pressed);
      return toStaged(world, await runIn(world, createAgent({ model: scriptedModel([say('Never.')]), ports: world.ports })));
    },
    truth: { status: 'stopped', rule: 'StopRequested', reason: [pressed] },
  },
  {
    name: 'an abort while the run waits for a retry',
    stage: async () => {
      const world = createWorld();
      const busy = { type: 'rate_limit', code: 'http-429', message: 'too many requests', retryable: true, retryAfterMs: 20_000 };
      const agent = createAgent({ model: scriptedModel([fail(busy), say('Never.')]), ports: world.ports });
      const { result } = agent.start('Go.', { onEvent: world.listen, signal: world.host.signal });
      await world.clock.advance(5000);
      world.host.abort(pressed);
      return toStaged(world, await passTime(world.clock, result));
    },
    truth: { status: 'stopped', rule: 'StopRequested', reason: [pressed], also: ['too many requests', /\b20 s\b/] },
  },
  {
    name: 'an abort without a reason',
    stage: () =>
      stageAgent(({ host }) => ({
        model: scriptedModel([call('crawl')]),
        tools: [
          createTool('crawl', () => {
            host.abort();
            return new Promise(() => undefined);
          }),
        ],
      })),
    truth: { status: 'stopped', rule: 'StopRequested', reason: [/abort|stop/i], step: 1, also: ['crawl'] },
  },
  {
    name: 'a request to stop after the step in progress',
    stage: async () => {
      const world = createWorld();
      const agent = createAgent({
        model: scriptedModel([call('look')], { repeatLast: true }),
        tools: [
          createTool('look', () => {
            run.requestStop(`shift change ${poison}`);
            return 'seen';
          }),
        ],
        ports: world.ports,
      });
      const run = agent.start('Go.', { onEvent: world.listen });
      return toStaged(world, await passTime(world.clock, run.result));
    },
    truth: { status: 'stopped', rule: 'StopRequested', reason: ['shift change'], step: 1 },
  },
  {
    name: 'an answer that the provider cut off',
    stage: () => stageAgent(() => ({ model: scriptedModel([{ text: 'The three reasons are: first,', usage, finishReason: 'length' }]) })),
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [],
      step: 1,
      also: ['length', /cut .*off|early/],
      logged: [finished],
    },
  },
  {
    name: 'an answer that a filter cut off',
    stage: () => stageAgent(() => ({ model: scriptedModel([{ text: 'I', usage, finishReason: 'content_filter' }]) })),
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [],
      step: 1,
      also: ['content_filter', /cut .*off|early/],
      logged: [finished],
    },
  },
  {
    name: 'an answer with a finish reason that nobody knows',
    stage: () => stageAgent(() => ({ model: scriptedModel([{ text: 'Well', usage, finishReason: 'solar_flare' }]) })),
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [],
      step: 1,
      also: [/solar_flare|other|unknown/, /unusual|early/],
      logged: [finished],
    },
  },
  {
    name: 'a cut answer, if that finish reason ends the run',
    stage: () =>
      stageAgent(() => ({ model: scriptedModel([{ text: 'The three', usage, finishReason: 'length' }]), finishReasons: ['length'] })),
    truth: { status: 'stopped', rule: 'FinishReasonCheck', reason: ['length'], step: 1 },
  },
];
