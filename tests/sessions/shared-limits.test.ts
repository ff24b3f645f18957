// The limits of a provider, which all workers of a store have together.
import { expect, test } from 'vitest';
import { createAgent, defineHook, withModelLimits } from '../../src/entry/index.ts';
import { subAgents } from '../../src/entry/capabilities.ts';
import type { createModelLimits, Model } from '../../src/inference/index.ts';
import { sleep } from '../../src/lib/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions } from '../../src/sessions/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import { createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import type { Place } from './stage.ts';
import { ann, places, stageOn, until } from './stage.ts';

const minuteMs = 60_000;

type Limits = NonNullable<Parameters<typeof createModelLimits>[0]>;

/** Workers of one store, each with limits of its own as in a process of its own, and what they call together. */
function setUp(limits: Limits, { place, takesMs = 0 }: { readonly place?: Place; readonly takesMs?: number } = {}) {
  const clock = createFakeClock();
  const stage = stageOn(place ?? createMemoryPlace({ clock }));
  const calls: { readonly worker: string; readonly at: number }[] = [];
  let [running, most] = [0, 0];
  const createLimited = (worker: string): Model => {
    const answer = async (): Promise<string> => {
      calls.push({ worker, at: clock.monotonic() });
      most = Math.max(most, (running += 1));
      if (takesMs > 0) await sleep(clock, takesMs);
      running -= 1;
      return 'Done.';
    };
    return withModelLimits(scriptedModel([answer], { repeatLast: true }), { ...limits, clock });
  };
  const start = (name: string, more: Partial<SessionRuntimeOptions> = {}): EmbeddedRuntime =>
    stage.start({
      name,
      silenceMs: 15_000,
      heartbeatClock: clock,
      agents: [createAgent({ id: 'desk', model: createLimited(name) })],
      ...more,
    });
  let created = 0;
  /** Sends a message to so many new sessions of a worker. */
  const sendMany = async (runtime: EmbeddedRuntime, count: number): Promise<void> => {
    for (let index = 0; index < count; index += 1) {
      const { id } = await runtime.create({ id: `s${(created += 1)}` }, { by: ann });
      await runtime.send(id, 'Hello?', { by: ann, until: 'accepted' });
    }
  };
  /** Lets time pass, a sign of life at a time. */
  const pass = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 500) await clock.advance(500);
  };
  const mostInAMinute = (): number =>
    Math.max(...calls.map(({ at }) => calls.filter((call) => call.at >= at && call.at < at + minuteMs).length));
  const countCalls = (worker: string): number => calls.filter((call) => call.worker === worker).length;
  return { stage, clock, calls, start, sendMany, pass, mostInAMinute, countCalls, getMost: () => most };
}

test.each(places)('two workers together call no more often in a minute than one may alone (%s)', async (_, open) => {
  const { start, sendMany, pass, mostInAMinute, countCalls, calls } = setUp({ requestsPerMinute: 4 }, { place: open() });
  const [first, second] = [start('first'), start('second')];
  await Promise.all([first.ready, second.ready]);
  await pass(1000);
  await sendMany(first, 4);
  await sendMany(second, 4);
  await until(() => expect(calls.length).toBe(4));
  await pass(minuteMs + 1000);
  await until(() => expect([countCalls('first'), countCalls('second')]).toStrictEqual([4, 4]));
  expect(mostInAMinute()).toBe(4);
  await Promise.all([first.drain(), second.drain()]);
});

test('two workers together have no more calls at once than one may alone', async () => {
  const { start, sendMany, pass, getMost, calls } = setUp({ concurrent: 4 }, { takesMs: 5000 });
  const [first, second] = [start('first'), start('second')];
  await Promise.all([first.ready, second.ready]);
  await pass(1000);
  await sendMany(first, 5);
  await sendMany(second, 5);
  await pass(30_000);
  expect([calls.length, getMost()]).toStrictEqual([10, 4]);
});

test.each([
  ['is drained', (runtime: EmbeddedRuntime) => runtime.drain()],
  ['is gone', () => undefined],
])('a worker that %s leaves its part to the others, a minute later: until then its calls count', async (how, end) => {
  const { stage, start, sendMany, pass, mostInAMinute, countCalls } = setUp({ requestsPerMinute: 4 });
  const first = start('first');
  const frozen = createFakeClock();
  const second = start('second', how === 'is gone' ? { heartbeatClock: frozen } : {});
  await Promise.all([first.ready, second.ready]);
  await pass(1000);
  await sendMany(second, 2);
  await until(() => expect(countCalls('second')).toBe(2));
  await end(second);
  await sendMany(first, 12);
  await pass(how === 'is gone' ? 16_000 : 1000);
  expect((await first.health()).workers.map(({ name }) => name)).toStrictEqual(['first']);
  await pass(minuteMs - 2000);
  expect([countCalls('first') <= 4, mostInAMinute()]).toStrictEqual([true, 4]);
  await pass(minuteMs / 2);
  expect([countCalls('first') >= 6, mostInAMinute()]).toStrictEqual([true, 4]);
  expect(stage.problems).toStrictEqual([]);
});

test('a worker that joins takes its part of what the others still have', async () => {
  const { start, sendMany, pass, calls, countCalls } = setUp({ requestsPerMinute: 4 });
  const first = start('first');
  await sendMany(first, 12);
  await until(() => expect(countCalls('first')).toBe(4));
  const second = start('second');
  await second.ready;
  await pass(500);
  await sendMany(second, 4);
  await pass(2 * minuteMs);
  const later = calls.filter(({ at }) => at >= minuteMs);
  const inMinute = (from: number): number => later.filter(({ at }) => at >= from && at < from + minuteMs).length;
  expect([countCalls('second'), Math.max(...later.map(({ at }) => inMinute(at)))]).toStrictEqual([4, 4]);
});

test('a worker without the agent, and a client, have no part', async () => {
  const { stage, start, sendMany, pass, countCalls } = setUp({ requestsPerMinute: 4 });
  const first = start('first');
  await start('other', { agents: [stage.agent({ id: 'other' })] }).ready;
  await start('client', { role: 'client' }).list();
  await pass(1000);
  await sendMany(first, 6);
  await until(() => expect(countCalls('first')).toBe(4));
});

test('sub-agents and hooks that ask a model share it too; a run outside sessions shares with nobody', async () => {
  const { start, pass } = setUp({});
  const seen: (readonly [string, number | undefined])[] = [];
  const noting = (name: string, answers: readonly Parameters<typeof scriptedModel>[0][number][]): Model =>
    scriptedModel(
      answers.map((answer) => (request) => {
        seen.push([name, request.sharedBy?.()]);
        return typeof answer === 'function' ? answer(request) : answer;
      }),
    );
  const adviser = noting('hook', ['Yes.', 'Yes.', 'Yes.', 'Yes.']);
  const helper = createAgent({ id: 'helper', model: noting('helper', ['Done.', 'Done.']) });
  const spawn = { toolCalls: [{ name: 'spawn_subagent', args: { subagent: 'helper', prompt: 'Help.' } }] };
  const agent = createAgent({
    id: 'desk',
    model: noting('agent', [spawn, 'Done.', spawn, 'Done.']),
    capabilities: [subAgents({ agents: { helper: { agent: helper, description: 'Helps.' } } })],
    hooks: [
      defineHook({
        name: 'advice',
        changes: ['metadata'],
        beforeStep: async ({ ask }) => {
          await ask(adviser, { messages: [] });
          return undefined;
        },
      }),
    ],
  });
  const [first, second] = [start('first', { agents: [agent] }), start('second')];
  await Promise.all([first.ready, second.ready]);
  await pass(1000);
  const { id } = await first.create({}, { by: ann });
  await first.send(id, 'Hello?', { by: ann });
  expect(seen).toStrictEqual([
    ['hook', 2],
    ['agent', 2],
    ['helper', 2],
    ['hook', 2],
    ['agent', 2],
  ]);
  await agent.start('Hello?').result;
  expect(seen.slice(5).map(([, sharedBy]) => sharedBy)).toStrictEqual(Array.from({ length: 5 }, () => undefined));
});
