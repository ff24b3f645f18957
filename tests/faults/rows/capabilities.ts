// Sub-agents, self-critique and compaction.
import { createAgent } from '../../../src/entry/index.ts';
import { compaction, selfCritique, subAgents } from '../../../src/entry/capabilities.ts';
import { scriptedModel } from '../../../src/entry/testing.ts';
import { bob, createDesk, getOnlyWait, readDesk, sessionId } from '../desk.ts';
import type { Fault } from '../fault.ts';
import { forged, leak, poison } from '../poison.ts';
import { call, createBrokenTool, createHangingTool, createTool, fail, say } from '../props.ts';
import type { World } from '../world.ts';
import { createWorld, runIn, stageAgent, toStaged } from '../world.ts';

const finished = /no tool|no call|no work/i;
const dig = createTool('dig', () => 'more to dig');
const digForEver = () => scriptedModel([call('dig')], { repeatLast: true });
const spawn = (subagent: string) => call({ name: 'spawn_subagent', id: 'task-1', args: { subagent, prompt: `Do it. ${poison}` } });

type AgentMaker = Parameters<typeof createAgent>[0];

/** The capability of an outer agent with one sub-agent, `billing`. */
const withBilling = ({ ports }: Pick<World, 'ports'>, options: Omit<AgentMaker, 'ports'>) =>
  subAgents({ agents: { billing: { agent: createAgent({ id: 'inner', ...options, ports }), description: 'Bills.' } } });

const verdict = (approved: boolean, summary: string) =>
  say(JSON.stringify({ approved, summary, strengths: [], weaknesses: approved ? [] : [summary], suggestions: [] }));

export const capabilityFaults: readonly Fault[] = [
  {
    name: 'a sub-agent that reaches its own limit',
    stage: () =>
      stageAgent((world) => ({
        model: scriptedModel([spawn('billing'), say('Partly done.')]),
        capabilities: [withBilling(world, { model: digForEver(), tools: [dig], limits: { steps: 2 } })],
      })),
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [finished],
      step: 2,
      also: [/billing/, /steps_limit|StepsLimit|2 of 2|step limit/],
    },
  },
  {
    name: 'a limit of the outer run that is reached inside a sub-agent',
    stage: () =>
      stageAgent((world) => ({
        model: scriptedModel([spawn('billing'), say('Never.')]),
        capabilities: [withBilling(world, { model: digForEver(), tools: [dig] })],
        limits: { tokens: 200 },
      })),
    truth: { status: 'stopped', rule: 'TokenUsageLimit', reason: ['240 of 200'], step: 1, also: ['billing'] },
  },
  {
    name: 'a sub-agent that fails',
    stage: () =>
      stageAgent((world) => ({
        model: scriptedModel([spawn('billing'), say('It failed.')]),
        capabilities: [
          withBilling(world, {
            model: scriptedModel([fail({ type: 'model', code: 'unauthorized', message: leak.apiKey, retryable: false })]),
          }),
        ],
      })),
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [finished],
      step: 2,
      also: ['billing', 'Incorrect API key provided'],
    },
  },
  {
    name: 'a sub-agent whose tool fails three times',
    stage: () =>
      stageAgent((world) => ({
        model: scriptedModel([spawn('billing'), say('It failed.')]),
        capabilities: [
          withBilling(world, {
            model: scriptedModel([call('export')], { repeatLast: true }),
            tools: [createBrokenTool('export', new Error(`disk quota exceeded${forged}`))],
          }),
        ],
      })),
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [finished],
      step: 2,
      also: ['billing', /export failed/, 'disk quota exceeded'],
    },
  },
  {
    name: 'a sub-agent that waits for approval',
    stage: () =>
      stageAgent((world) => ({
        model: scriptedModel([spawn('billing'), say('Done.')]),
        capabilities: [
          withBilling(world, {
            model: scriptedModel([call({ name: 'refund', id: 'refund-1' })]),
            tools: [createTool('refund', () => 'refunded', { needsApproval: true })],
          }),
        ],
      })),
    truth: { status: 'waiting', reason: [/approval/, 'refund', 'billing', 'task-1/refund-1'], step: 1 },
  },
  {
    name: 'a call of a sub-agent that a person rejects',
    stage: async () => {
      const desk = createDesk();
      const billing = withBilling(desk, {
        model: scriptedModel([call({ name: 'refund', id: 'refund-1' }), say('Not refunded.')]),
        tools: [createTool('refund', () => 'refunded', { needsApproval: true })],
      });
      const runtime = await desk.open(desk.agent({ model: scriptedModel([spawn('billing'), say('Sorry.')]), capabilities: [billing] }));
      await desk.wait(runtime.reject(sessionId, await getOnlyWait(runtime), { by: bob, reason: `not without a receipt ${poison}` }));
      return readDesk(desk, runtime);
    },
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [finished],
      step: 2,
      also: [/bob rejected refund/, 'not without a receipt', 'billing'],
      logged: [/^Agent billing \[/m],
    },
  },
  {
    name: 'a sub-agent that nobody defined',
    stage: () =>
      stageAgent((world) => ({
        model: scriptedModel([spawn('legal')], { repeatLast: true }),
        capabilities: [withBilling(world, { model: scriptedModel([say('Never.')]) })],
      })),
    truth: {
      status: 'failed',
      rule: 'ErrorPolicyCriterion',
      reason: ['spawn_subagent', 'must be one of', 'billing', /\b(?:3|three|third)\b/i],
      step: 3,
    },
  },
  {
    name: 'an abort while a sub-agent works',
    stage: () =>
      stageAgent((world) => ({
        model: scriptedModel([spawn('billing')]),
        capabilities: [
          withBilling(world, {
            model: scriptedModel([call('crawl')]),
            tools: [
              createTool('crawl', () => {
                world.host.abort('operator pressed stop');
                return new Promise(() => undefined);
              }),
            ],
          }),
        ],
      })),
    truth: {
      status: 'stopped',
      rule: 'StopRequested',
      reason: ['operator pressed stop'],
      step: 1,
      also: ['crawl', 'billing', /may or may not have/],
    },
  },
  {
    name: 'a time limit of the outer run while a sub-agent works',
    stage: () =>
      stageAgent((world) => ({
        model: scriptedModel([spawn('billing')]),
        capabilities: [withBilling(world, { model: scriptedModel([call('crawl')]), tools: [createHangingTool('crawl')] })],
        limits: { wallMs: 6000 },
      })),
    truth: { status: 'stopped', rule: 'ExecutionTimeLimit', reason: [/\b6 s of 6 s\b|\b6 of 6 s/], step: 1, also: ['billing', 'crawl'] },
  },
  {
    name: 'an answer that the critic refuses to the end',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([say('About nine.')], { repeatLast: true }),
        capabilities: [
          selfCritique({ model: scriptedModel([verdict(false, `It is vague. ${poison}`)], { repeatLast: true }), maxRevisions: 2 }),
        ],
      })),
    truth: { status: 'stopped', rule: 'self-critique', reason: ['It is vague', /\b(?:2|two)\b/], step: 3 },
  },
  {
    name: 'a critic that fails',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([say('About nine.')]),
        capabilities: [
          selfCritique({
            model: scriptedModel([fail({ type: 'model', code: 'http-503', message: `no critics today ${leak.url}`, retryable: true })]),
          }),
        ],
      })),
    truth: { status: 'completed', rule: 'ToolCallPresenceCheck', reason: [finished], step: 1, also: ['self-critique', 'no critics today'] },
  },
  {
    name: 'a summary that fails',
    stage: async () => {
      const world = createWorld();
      const noSummary = fail({ type: 'model', code: 'http-503', message: `no summaries today ${leak.bearer}`, retryable: true });
      const summaries = compaction({ model: scriptedModel([noSummary], { repeatLast: true }), maxTokens: 20, maxBufferTokens: 20 });
      const model = scriptedModel([say('A long answer. '.repeat(100)), say('Done.')]);
      const agent = createAgent({ model, capabilities: [summaries], ports: world.ports });
      const first = await runIn(world, agent, 'A long question. '.repeat(100));
      return toStaged(world, await runIn(world, agent, first.state.withUserMessage('Well?')));
    },
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [finished],
      step: 1,
      logged: ['compaction', 'no summaries today'],
    },
  },
];
