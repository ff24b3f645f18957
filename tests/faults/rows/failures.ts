// Tools and models that fail.
import type { Failure } from '../../../src/entry/index.ts';
import { createAgent, defineTool, ErrorPolicy, ToolFailedError } from '../../../src/entry/index.ts';
import { scriptedModel } from '../../../src/entry/testing.ts';
import type { Fault } from '../fault.ts';
import { forged, leak, poison } from '../poison.ts';
import { call, createBrokenTool, createHangingTool, createTool, fail, say } from '../props.ts';
import { createWorld, runIn, stageAgent, toStaged } from '../world.ts';

const policy = 'ErrorPolicyCriterion';
const noCapacity: Failure = { type: 'model', code: 'http-503', message: `no capacity at ${leak.url}`, retryable: true };
const tooMany = (retryAfterMs?: number): Failure => ({
  type: 'rate_limit',
  code: 'http-429',
  message: 'too many requests',
  retryable: true,
  ...(retryAfterMs !== undefined && { retryAfterMs }),
});
const badKey: Failure = { type: 'model', code: 'unauthorized', message: leak.apiKey, retryable: false };

const chain = new Error('charge failed', { cause: new Error('pool exhausted', { cause: new Error(`connect ECONNREFUSED ${leak.url}`) }) });

/** A tool that throws these errors, one after the other. */
function createFailingTool(name: string, errors: readonly string[]) {
  let count = 0;
  return createTool(name, () => {
    throw new Error(errors[(count += 1) - 1]);
  });
}

export const failureFaults: readonly Fault[] = [
  {
    name: 'a tool that throws, if any error stops the run',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([call('export')]),
        tools: [createBrokenTool('export', new Error(`disk quota exceeded ${poison}`))],
        errors: ErrorPolicy.stopOnAnyError(),
      })),
    truth: { status: 'failed', rule: policy, reason: ['export', 'disk quota exceeded'], step: 1, untrue: ['retried'] },
  },
  {
    name: 'a tool that throws an error with causes',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([call('charge')]),
        tools: [createBrokenTool('charge', chain)],
        errors: ErrorPolicy.stopOnAnyError(),
      })),
    truth: { status: 'failed', rule: policy, reason: ['charge failed', 'pool exhausted', 'connect ECONNREFUSED'], step: 1 },
  },
  {
    name: 'a tool that throws something else than an error',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([call('export')]),
        tools: [createBrokenTool('export', `quota is gone${forged}`)],
        errors: ErrorPolicy.stopOnAnyError(),
      })),
    truth: { status: 'failed', rule: policy, reason: ['export', 'quota is gone'], step: 1 },
  },
  {
    name: 'three failures of a tool in a row, each with another message',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([call('export')], { repeatLast: true }),
        tools: [createFailingTool('export', ['disk quota exceeded', 'file is locked', 'path is too long'])],
      })),
    truth: {
      status: 'failed',
      rule: policy,
      reason: ['export', 'path is too long', /\b(?:3|three|third)\b/i],
      step: 3,
      also: ['disk quota exceeded', 'file is locked', /step 1\b/i, /step 2\b/i],
    },
  },
  {
    name: 'failures of the model, a tool and a rate limit in a row',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([call('look'), fail(noCapacity), call('export'), fail(tooMany())]),
        tools: [createBrokenTool('export', new Error('disk quota exceeded')), createTool('look', () => 'seen')],
        errors: ErrorPolicy.retryAll(3),
      })),
    truth: {
      status: 'failed',
      rule: policy,
      reason: ['too many requests', /\b(?:3|three|third)\b/i],
      step: 4,
      also: ['no capacity', 'disk quota exceeded', 'export', /step 2\b/i, /step 3\b/i],
    },
  },
  {
    name: 'a tool that nobody defined',
    stage: () =>
      stageAgent(() => ({ model: scriptedModel([call('teleport')], { repeatLast: true }), tools: [createTool('look', () => 'seen')] })),
    truth: { status: 'failed', rule: policy, reason: ['teleport', /no tool|unknown tool|not a tool|does not exist/i], step: 3 },
  },
  {
    name: 'a tool with a forged name that nobody defined',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([call(`teleport${forged}`)]),
        tools: [createTool('look', () => 'seen')],
        errors: ErrorPolicy.stopOnAnyError(),
      })),
    truth: { status: 'failed', rule: policy, reason: ['teleport'], step: 1 },
  },
  {
    name: 'arguments that do not fit the schema',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([call({ name: 'pay', args: { euros: 'ten', password: 'correct-horse-battery' } })], { repeatLast: true }),
        tools: [
          defineTool({
            name: 'pay',
            description: 'Pays.',
            input: { type: 'object', properties: { euros: { type: 'number' } }, required: ['euros'] },
            run: () => 'paid',
          }),
        ],
      })),
    truth: { status: 'failed', rule: policy, reason: ['pay', 'euros', 'number', /\b(?:3|three|third)\b/i], step: 3 },
  },
  {
    name: 'arguments that are not JSON',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([call({ name: 'look', args: '{"place": "gar' })]),
        tools: [createTool('look', () => 'seen')],
        errors: ErrorPolicy.stopOnAnyError(),
      })),
    truth: { status: 'failed', rule: policy, reason: ['look', 'JSON'], step: 1 },
  },
  {
    name: 'a tool that takes longer than its own time limit',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([call('crawl')]),
        tools: [createTool('crawl', () => new Promise(() => undefined), { timeoutMs: 2000 })],
        errors: ErrorPolicy.stopOnAnyError(),
      })),
    truth: { status: 'failed', rule: policy, reason: ['crawl', /\b2 s\b|2,?000 ms/], step: 1 },
  },
  {
    name: 'an answer that never fits the output schema',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([say(`{"city": 7, "note": ${JSON.stringify(poison)}}`)], { repeatLast: true }),
        output: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      })),
    truth: { status: 'failed', rule: policy, reason: ['city', 'string', /\b(?:3|three|third)\b/i], step: 3 },
  },
  {
    name: 'a key that the provider refuses',
    stage: () => stageAgent(() => ({ model: scriptedModel([fail(badKey)]) })),
    truth: { status: 'failed', rule: policy, reason: ['Incorrect API key provided'], step: 1, untrue: [/waits .* before retry/] },
  },
  {
    name: 'a model that is down until the retries are used up',
    stage: () => stageAgent(() => ({ model: scriptedModel([fail(noCapacity)], { repeatLast: true }) })),
    truth: {
      status: 'failed',
      rule: policy,
      reason: ['no capacity', /\b(?:3|three)\b/],
      explained: [/\bSteps 1 to 5\b/],
      logged: [/step 1\b/, /step 2\b/, /step 3\b/],
      untrue: [/let the error policy retry/i],
    },
  },
  {
    name: 'a Retry-After that is longer than the time that is left',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([fail(tooMany(600_000))]),
        limits: { wallMs: 300_000 },
        errors: ErrorPolicy.retryAll(3).withBackoff({ longestRetryAfterMs: 900_000 }),
      })),
    truth: {
      status: 'failed',
      rule: policy,
      reason: ['too many requests', '600 s', '300 s'],
      step: 1,
      untrue: [/waits .* before retry/, /attempt 1 failed/],
    },
  },
  {
    name: 'a Retry-After that is longer than the policy waits',
    stage: () => stageAgent(() => ({ model: scriptedModel([fail(tooMany(90_000))]) })),
    truth: {
      status: 'failed',
      rule: policy,
      reason: ['too many requests', '90 s', '60 s'],
      step: 1,
      untrue: [/waits .* before retry/, /attempt 1 failed/],
    },
  },
  {
    name: 'a Retry-After that outlasts the time limit after earlier steps',
    stage: () =>
      stageAgent(({ clock }) => ({
        model: scriptedModel([call('crawl'), fail(tooMany(50_000))]),
        tools: [
          createTool('crawl', () => {
            clock.skip(80_000);
            return 'crawled';
          }),
        ],
        limits: { wallMs: 100_000 },
      })),
    truth: { status: 'failed', rule: policy, reason: ['too many requests', '50 s', '20 s'], step: 2 },
  },
  {
    name: 'a retry that helped',
    stage: () => stageAgent(() => ({ model: scriptedModel([fail(noCapacity), say('Here I am.')]) })),
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [/no tool|no call|no work/i],
      step: 2,
      also: ['no capacity', /retr/i, /step 1\b/i],
    },
  },
  {
    name: 'a retry that the provider asked for',
    stage: () => stageAgent(() => ({ model: scriptedModel([fail(tooMany(7000)), say('Here I am.')]) })),
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [/no tool|no call|no work/i],
      step: 2,
      also: ['too many requests', /\b7 s\b/],
    },
  },
  {
    name: 'a failed call that the policy ignores',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([call('export'), say('It did not work.')]),
        tools: [createBrokenTool('export', new Error(`disk quota exceeded${forged}`))],
        errors: ErrorPolicy.ignoreToolErrors(),
      })),
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [/no tool|no call|no work/i],
      step: 2,
      also: ['export', 'disk quota exceeded', /step 1\b/i],
    },
  },
  {
    name: 'a tool with a rule of its own in the policy',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([call('look', 'pay')]),
        tools: [createBrokenTool('look', new Error('fog')), createBrokenTool('pay', new ToolFailedError('card declined'))],
        errors: ErrorPolicy.retryAll(5).withTool('pay', 'stop').withTool('look', 'ignore'),
      })),
    truth: { status: 'failed', rule: policy, reason: ['pay', 'card declined'], step: 1, also: ['look', 'fog'] },
  },
  {
    name: 'a model whose first word never comes',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([() => new Promise(() => undefined)]),
        timeouts: { firstByteMs: 3000 },
        errors: ErrorPolicy.stopOnAnyError(),
      })),
    truth: { status: 'failed', rule: policy, reason: [/\b3 s\b|3,?000 ms/], step: 1 },
  },
  {
    name: 'a model that says nothing',
    stage: () => stageAgent(() => ({ model: scriptedModel([{ text: '' }]), errors: ErrorPolicy.stopOnAnyError() })),
    truth: { status: 'failed', rule: policy, reason: [/empty|no text|nothing/i], step: 1 },
  },
  {
    name: 'an answer that breaks off',
    stage: () =>
      stageAgent(() => ({ model: scriptedModel([{ text: 'It is', finishReason: 'interrupted' }]), errors: ErrorPolicy.stopOnAnyError() })),
    truth: { status: 'failed', rule: policy, reason: [/interrupted|broke off|cut off|before its end/i], step: 1 },
  },
  {
    name: 'a fallback that answered',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([fail(noCapacity)], { provider: 'acme', modelId: 'large' }),
        fallback: [scriptedModel([say('Here I am.')], { provider: 'other', modelId: 'small' })],
      })),
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [/no tool|no call|no work/i],
      step: 1,
      also: ['acme/large', 'other/small', 'no capacity'],
    },
  },
  {
    name: 'a model and its fallback that both fail',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([fail(noCapacity)], { provider: 'acme', modelId: 'large' }),
        fallback: [scriptedModel([fail(tooMany())], { provider: 'other', modelId: 'small' })],
        errors: ErrorPolicy.stopOnAnyError(),
      })),
    truth: { status: 'failed', rule: policy, reason: ['too many requests'], step: 1, also: ['acme/large', 'other/small', 'no capacity'] },
  },
  {
    name: 'a model that is skipped because it failed lately',
    stage: async () => {
      const world = createWorld();
      const agent = createAgent({
        model: scriptedModel([fail(noCapacity)], { provider: 'acme', modelId: 'large', repeatLast: true }),
        fallback: [scriptedModel([call('look'), say('Here I am.')], { provider: 'other', modelId: 'small' })],
        tools: [createTool('look', () => 'seen')],
        ports: world.ports,
      });
      return toStaged(world, await runIn(world, agent));
    },
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [/no tool|no call|no work/i],
      step: 2,
      also: ['acme/large', /skip/i, /00:00:30/],
    },
  },
  {
    name: 'a tool that hangs until the time limit, after a failed retry',
    stage: () =>
      stageAgent(() => ({
        model: scriptedModel([fail(noCapacity), call('crawl')]),
        tools: [createHangingTool('crawl')],
        limits: { wallMs: 10_000 },
      })),
    truth: {
      status: 'stopped',
      rule: 'ExecutionTimeLimit',
      reason: [/\b10 s of 10 s\b|\b10 of 10 s/],
      step: 2,
      also: ['crawl', 'no capacity'],
    },
  },
];
