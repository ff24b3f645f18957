import { describe, expect, test } from 'vitest';
import type { Failure } from '../errors/index.ts';
import { withFallback } from '../inference/index.ts';
import type { FakeClock } from '../lib/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import type { ScriptedEntry, ScriptedModel } from '../testing/index.ts';
import { scriptedModel } from '../testing/index.ts';
import { defineTool } from '../tools/index.ts';
import type { Agent, AgentEvent, AgentOptions } from './index.ts';
import { AgentState, createAgent } from './index.ts';

const failure: Failure = { type: 'model', code: 'http-503', message: 'no capacity', retryable: true };
const down: ScriptedEntry = { error: failure };
const works: ScriptedEntry = { toolCalls: [{ name: 'look' }] };
const answers: ScriptedEntry = { text: 'Done.' };

interface Stage {
  readonly clock: FakeClock;
  readonly events: AgentEvent[];
  readonly agent: Agent;
  /** A state with one user message. */
  readonly begin: () => AgentState;
}

const createModel = (modelId: string, script: readonly ScriptedEntry[]): ScriptedModel =>
  scriptedModel(script, { provider: 'p', modelId, repeatLast: true });

/** An agent whose every step takes `stepMs`. */
function createStage(options: Pick<AgentOptions, 'model' | 'fallback'>, stepMs = 1000): Stage {
  const clock = createFakeClock();
  const ports = { clock, ids: createCountingIds(), random: () => 0.5 };
  const look = defineTool({
    name: 'look',
    description: 'A tool.',
    input: {},
    run: () => {
      clock.skip(stepMs);
      return 'seen';
    },
  });
  const agent = createAgent({ ...options, tools: [look], ports });
  const events: AgentEvent[] = [];
  agent.wiretap((event) => events.push(event));
  return { clock, events, agent, begin: () => AgentState.empty(ports).withUserMessage('Go.') };
}

const countSteps = (model: ScriptedModel): number => model.calls.length;

describe('a model that is down, with a fallback that answers', () => {
  test('is asked once, and not again in every step', async () => {
    const [a, b] = [createModel('a', [down]), createModel('b', [works, works, works, answers])];
    const { agent, begin } = createStage({ model: a, fallback: [b] });
    const end = await agent.run(begin());
    expect([end.status, countSteps(a), countSteps(b)]).toStrictEqual(['completed', 1, 4]);
  });

  test('is asked again after 30 s, then after 60 s, and is asked first again once it has answered', async () => {
    const [a, b] = [createModel('a', [down, down, works, down, works]), createModel('b', [works])];
    const { agent, begin, clock } = createStage({ model: a, fallback: [b] }, 10_000);
    let state = begin();
    const asked: number[] = [];
    for (let step = 0; step < 15; step += 1) {
      const [before, at] = [countSteps(a), clock.monotonic() / 1000];
      state = await agent.nextStep(state);
      if (countSteps(a) > before) asked.push(at);
    }
    // Down at 0 and 30, it answers at 90 and its failures are forgotten, so that the next one, at 100, counts as the first.
    expect(asked).toStrictEqual([0, 30, 90, 100, 130, 140]);
  });

  test('stays skipped in another process and after a new message', async () => {
    const [a, b] = [createModel('a', [down]), createModel('b', [answers])];
    const { agent, begin, clock } = createStage({ model: a, fallback: [b] });
    const first = await agent.run(begin());
    const stored = AgentState.fromJSON(JSON.parse(JSON.stringify(first)));
    await agent.run(stored.withUserMessage('And now?'));
    expect([countSteps(a), countSteps(b)]).toStrictEqual([1, 2]);
    await clock.advance(30_000);
    await agent.run(stored.withUserMessage('And now?'));
    expect([countSteps(a), countSteps(b)]).toStrictEqual([2, 3]);
  });

  test('is named in the events and in the explanation', async () => {
    const [a, b] = [createModel('a', [down]), createModel('b', [works, answers])];
    const { agent, begin, events } = createStage({ model: a, fallback: [b] });
    const end = await agent.run(begin());
    const skipped = events.filter(({ type }) => type === 'ModelSkipped');
    const until = Date.UTC(2026, 0, 1, 0, 0, 30);
    expect(skipped).toMatchObject([{ stepNumber: 2, model: 'p/a', failures: 1, until }]);
    expect(String(skipped[0])).toContain('skips p/a until 2026-01-01T00:00:30.000Z: it failed');
    expect(events.flatMap((event) => (event.type === 'InferenceStarted' ? [event.model] : []))).toStrictEqual(['p/a', 'p/b']);
    expect(end.explain()).toContain('Model p/a is skipped until 2026-01-01T00:00:30.000Z: it failed and another model answered.');
  });

  test('is skipped in a row of models that the user made', async () => {
    const [a, b] = [createModel('a', [down]), createModel('b', [works, works, answers])];
    const { agent, begin } = createStage({ model: withFallback(a, b) });
    await agent.run(begin());
    expect([countSteps(a), countSteps(b)]).toStrictEqual([1, 3]);
  });
});

test('a fallback that fails is skipped too', async () => {
  const [a, b, c] = [createModel('a', [down]), createModel('b', [down]), createModel('c', [works, works, answers])];
  const { agent, begin } = createStage({ model: a, fallback: [b, c] });
  await agent.run(begin());
  expect([a, b, c].map(countSteps)).toStrictEqual([1, 1, 3]);
});

test('a model that is cooling down is asked after all if the others fail', async () => {
  const [a, b] = [createModel('a', [down, answers]), createModel('b', [works, down])];
  const { agent, begin } = createStage({ model: a, fallback: [b] });
  const end = await agent.run(begin());
  expect([end.status, end.stepCount, countSteps(a), countSteps(b)]).toStrictEqual(['completed', 2, 2, 2]);
});

test('if every model is cooling down, they are asked in order all the same', async () => {
  const [a, b, c] = [createModel('a', [down, answers]), createModel('b', [down]), createModel('c', [works])];
  const { agent, begin } = createStage({ model: a, fallback: [b, c] });
  const first = await agent.nextStep(begin());
  const only = createStage({ model: a, fallback: [b] });
  const end = await only.agent.run(first);
  expect([end.status, end.text, countSteps(b)]).toStrictEqual(['completed', 'Done.', 1]);
});

test('a failure that no other model covered does not count', async () => {
  const [a, b] = [createModel('a', [down, answers]), createModel('b', [down])];
  const { agent, begin, clock } = createStage({ model: a, fallback: [b] });
  const running = agent.run(begin());
  await clock.advance(2000);
  const end = await running;
  expect([end.status, countSteps(a), countSteps(b)]).toStrictEqual(['completed', 2, 1]);
  expect(end.explain()).not.toContain('skipped');
});
