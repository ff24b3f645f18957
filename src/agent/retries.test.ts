import { describe, expect, test } from 'vitest';
import type { Failure } from '../errors/index.ts';
import { ErrorPolicy } from '../errors/index.ts';
import type { FakeClock } from '../lib/index.ts';
import { createFakeClock } from '../lib/index.ts';
import type { ScriptedEntry } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import type { AgentOptions, AgentState } from './index.ts';
import { createAgent } from './index.ts';

const failure = (fields: Partial<Failure> = {}): Failure => ({
  type: 'model',
  code: 'http-503',
  message: 'no capacity',
  retryable: true,
  ...fields,
});
const down = (fields: Partial<Failure> = {}): ScriptedEntry => ({ error: failure(fields) });

interface Outcome {
  readonly state: AgentState;
  readonly asked: number;
  readonly delays: readonly number[];
  readonly elapsedMs: number;
}

/** Runs an agent on a clock that is moved on until the run has ended. */
async function run(script: readonly ScriptedEntry[], options: Partial<Omit<AgentOptions, 'capabilities'>> = {}): Promise<Outcome> {
  const clock: FakeClock = createFakeClock();
  const model = scriptedModel(script, { repeatLast: true });
  const agent = createAgent({ model, ports: { clock, random: () => 0.5 }, ...options });
  const delays: number[] = [];
  agent.onEvent('RetryScheduled', ({ delayMs }) => delays.push(delayMs));
  const startedAt = clock.now();
  let end: { readonly at: number; readonly state: AgentState } | undefined;
  const running = agent.start('Go.').result.then(({ state }) => (end = { at: clock.now(), state }));
  for (let turn = 0; turn < 600 && end === undefined; turn += 1) await clock.advance(1000);
  const { state, at } = await running;
  return { state, asked: model.calls.length, delays, elapsedMs: at - startedAt };
}

describe('the default policy of createAgent', () => {
  test.each(['model', 'rate_limit', 'timeout'] as const)('outlasts a %s failure of nine seconds', async (type) => {
    const { state, delays } = await run([down({ type }), down({ type }), down({ type }), down({ type }), { text: 'Done.' }]);
    expect([state.status, state.text, state.stepCount]).toStrictEqual(['completed', 'Done.', 5]);
    expect(delays).toStrictEqual([750, 1500, 3000, 6000]);
  });

  test('gives up once three failures in a row span ten seconds', async () => {
    const { state, asked, elapsedMs } = await run([down()]);
    expect([state.status, state.stopReason, asked]).toStrictEqual(['failed', 'retry_limit', 5]);
    expect(elapsedMs).toBe(11_250);
    expect(state.explain()).toContain('fifth failure in a row after 11.3 s (limit: 3 failures and 10 s, whichever comes later)');
  });

  test('counts every retry as a step', async () => {
    const { state, asked } = await run([down()], { limits: { steps: 4 } });
    expect([state.status, state.stopReason, asked]).toStrictEqual(['stopped', 'steps_limit', 4]);
  });

  test('stops at once at a failure that cannot pass', async () => {
    const { state, asked } = await run([down({ code: 'http-401', message: 'wrong key', retryable: false })]);
    expect([state.status, state.stopReason, asked]).toStrictEqual(['failed', 'error', 1]);
  });

  test('retries tool errors at once, and by their number alone', async () => {
    const export_ = defineTool({
      name: 'export',
      description: 'A tool.',
      input: {},
      run: () => {
        throw new Error('disk quota exceeded');
      },
    });
    const { state, elapsedMs, delays } = await run([{ toolCalls: [{ name: 'export' }] }], { tools: [export_] });
    expect([state.status, state.stopReason, state.stepCount]).toStrictEqual(['failed', 'retry_limit', 3]);
    expect([elapsedMs, delays]).toStrictEqual([0, []]);
  });

  test('starts to count anew after a step that worked', async () => {
    const look = defineTool({ name: 'look', description: 'A tool.', input: {}, run: () => 'seen' });
    const works: ScriptedEntry = { toolCalls: [{ name: 'look' }] };
    const { state } = await run([down(), down(), down(), works, down(), down(), down(), { text: 'Done.' }], { tools: [look] });
    expect([state.status, state.stepCount]).toStrictEqual(['completed', 8]);
  });
});

test('a preset ends by the number of failures alone', async () => {
  const errors = ErrorPolicy.retryAll(3);
  const { state, asked, elapsedMs } = await run([down()], { errors });
  expect([state.stopReason, asked, elapsedMs]).toStrictEqual(['retry_limit', 3, 2250]);
});

test.each([
  [{ retryAfterMs: 120_000 }, {}, 'the provider asked for a 120 s wait, but the policy waits at most 60 s'],
  [
    { retryAfterMs: 45_000 },
    { limits: { wallMs: 30_000 } },
    'the provider asked for a 45 s wait, but only 30 s of the time limit are left. Not retried',
  ],
] as const)('a Retry-After of %o that is too long ends the run with an error that names the bound', async (asked, options, words) => {
  const { state } = await run([down({ type: 'rate_limit', ...asked })], options);
  expect([state.status, state.stopReason, state.stepCount]).toStrictEqual(['failed', 'error', 1]);
  expect(state.explain()).toContain(words);
});
