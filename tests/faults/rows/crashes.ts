// Processes that end, providers that are down, and states that were cut short.
import type { Failure } from '../../../src/entry/index.ts';
import { createAgent, defineTool, SlimAgentStateSerializer, SlimSerializationConfig } from '../../../src/entry/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions } from '../../../src/entry/sessions.ts';
import { scriptedModel } from '../../../src/entry/testing.ts';
import type { Place } from '../../sessions/stage.ts';
import { sqlitePlace } from '../../sessions/stage.ts';
import type { Desk } from '../desk.ts';
import { ann, bob, createDesk, readDesk, sessionId, waitForStatus } from '../desk.ts';
import type { Fault } from '../fault.ts';
import { leak, poison } from '../poison.ts';
import { anyInput, call, createTool, fail, say } from '../props.ts';
import { createWorld, runIn, toStaged } from '../world.ts';

const finished = /no tool|no call|no work/i;

/** A desk whose tool `transfer` hangs, so that its process can end while it runs. */
function createHangingDesk(effect: 'once' | 'pure', place?: Place) {
  const desk = createDesk(place);
  let calls = 0;
  let hangs = true;
  let reach = (): void => undefined;
  const transfer = defineTool({
    name: 'transfer',
    description: 'Transfers money.',
    input: anyInput,
    effect,
    run: () => {
      calls += 1;
      reach();
      return hangs ? new Promise<string>(() => undefined) : 'transferred';
    },
  });
  const look = createTool('look', () => 'seen');
  const createClerk = (more: object = {}) =>
    desk.agent({
      model: scriptedModel(
        [
          ({ messages }) => {
            const done = messages.filter((message) => message.isAssistant()).length;
            return (
              [call('look'), call({ name: 'transfer', id: `transfer-${done}`, args: { euros: 70, password: 'correct-horse-battery' } })][
                done
              ] ?? say('Done.')
            );
          },
        ],
        { repeatLast: true },
      ),
      tools: [look, transfer],
      ...more,
    });
  /** Starts a process, and returns it when it has called the tool. */
  const startAndCall = async (start: () => EmbeddedRuntime): Promise<EmbeddedRuntime> => {
    const reached = new Promise<void>((resolve) => (reach = resolve));
    const runtime = start();
    await reached;
    return runtime;
  };
  const begin = (more: object = {}, options: Partial<SessionRuntimeOptions> = {}): Promise<EmbeddedRuntime> =>
    startAndCall(() => {
      const runtime = desk.start([createClerk(more)], options);
      void runtime
        .create({ id: sessionId }, { by: ann })
        .then(() => runtime.send(sessionId, 'Go.', { by: ann }))
        .catch(() => undefined);
      return runtime;
    });
  const release = (): void => {
    hangs = false;
  };
  return { desk, createClerk, begin, startAndCall, release, countCalls: () => calls };
}

/** Lets the process end in the same step until the next one gives up. */
async function loopCrashes(place?: Place) {
  const hanging = createHangingDesk('pure', place);
  await hanging.begin();
  for (let time = 0; time < 3; time += 1) await hanging.startAndCall(() => hanging.desk.start([hanging.createClerk()]));
  const runtime = hanging.desk.start([hanging.createClerk()]);
  await runtime.ready;
  await waitForStatus(runtime, 'waiting');
  return { ...hanging, runtime };
}

const noCapacity: Failure = { type: 'model', code: 'http-503', message: `no capacity at ${leak.url}`, retryable: true };

/** Parks a session because its provider is down. */
async function parkIt(desk: Desk, more: Partial<SessionRuntimeOptions> = {}): Promise<EmbeddedRuntime> {
  const agent = desk.agent({ model: scriptedModel([fail(noCapacity)], { repeatLast: true }) });
  const runtime = desk.start([agent], { onOutage: 'park', ...more });
  await runtime.create({ id: sessionId }, { by: ann });
  await desk.wait(runtime.send(sessionId, 'Go.', { by: ann }));
  return runtime;
}

export const crashFaults: readonly Fault[] = [
  {
    name: 'a process that ended while a call ran that must not run twice',
    stage: async () => {
      const { desk, createClerk, begin } = createHangingDesk('once', sqlitePlace());
      await begin();
      const runtime = desk.start([createClerk()]);
      await waitForStatus(runtime, 'completed');
      return readDesk(desk, runtime);
    },
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [finished],
      step: 3,
      also: ['transfer', /process ended/, /may or may not have/, /step 2\b/i],
    },
  },
  {
    name: 'a call that was cut off, if a person has to say what became of it',
    stage: async () => {
      const { desk, createClerk, begin } = createHangingDesk('once');
      await begin({ onUnknown: 'ask' });
      const runtime = desk.start([createClerk({ onUnknown: 'ask' })]);
      await waitForStatus(runtime, 'waiting');
      return readDesk(desk, runtime);
    },
    truth: { status: 'waiting', reason: ['transfer', 'transfer-1', /result/], step: 2, also: [/process ended/] },
  },
  {
    name: 'a process that ended while a call ran that may run again',
    stage: async () => {
      const { desk, createClerk, begin, release } = createHangingDesk('pure');
      await begin();
      release();
      const runtime = desk.start([createClerk()]);
      await waitForStatus(runtime, 'completed');
      return readDesk(desk, runtime);
    },
    truth: { status: 'completed', rule: 'ToolCallPresenceCheck', reason: [finished], step: 3, also: [/process ended/, /step 2\b/i] },
  },
  {
    name: 'a step that ends its process each time',
    stage: async () => {
      const { desk, runtime } = await loopCrashes();
      return readDesk(desk, runtime);
    },
    truth: { status: 'waiting', reason: [/\b(?:3|three) times\b/, /process ended/, /resume/, /cancel/], step: 2 },
  },
  {
    name: 'a crash loop in SQLite that a person cancels',
    stage: async () => {
      const { desk, runtime } = await loopCrashes(sqlitePlace());
      await desk.wait(runtime.cancel(sessionId, `it is poisoned ${poison}`, { by: bob }));
      return readDesk(desk, runtime);
    },
    truth: {
      status: 'stopped',
      rule: 'StopRequested',
      reason: ['it is poisoned', 'bob'],
      also: [/process ended/, /\b(?:3|three) times\b/, /step 2\b/i],
    },
  },
  {
    name: 'a crash loop that a person resumed',
    stage: async () => {
      const { desk, runtime, release } = await loopCrashes();
      release();
      await desk.wait(runtime.resume(sessionId, { by: bob }));
      return readDesk(desk, runtime);
    },
    truth: {
      status: 'completed',
      rule: 'ToolCallPresenceCheck',
      reason: [finished],
      step: 3,
      also: [/process ended/],
      logged: [/bob resumed/],
    },
  },
  {
    name: 'a provider that is down for longer than the retries last',
    stage: async () => {
      const desk = createDesk();
      return readDesk(desk, await parkIt(desk));
    },
    truth: { status: 'waiting', reason: ['provider', 'no capacity', /2026-01-01T01:00:00/], step: 5 },
  },
  {
    name: 'a provider that is down for longer than the session waits',
    stage: async () => {
      const desk = createDesk();
      const runtime = await parkIt(desk, { onOutage: { maxMs: 120_000 } });
      for (let second = 0; second < 200; second += 1) await desk.clock.advance(1000);
      await waitForStatus(runtime, 'failed');
      return readDesk(desk, runtime);
    },
    truth: { status: 'failed', rule: 'ErrorPolicyCriterion', reason: ['no capacity'], step: 5 },
  },
  {
    name: 'an outage that a person cancels',
    stage: async () => {
      const desk = createDesk();
      const runtime = await parkIt(desk);
      await desk.wait(runtime.cancel(sessionId, 'use the phone', { by: bob }));
      return readDesk(desk, runtime);
    },
    truth: { status: 'stopped', rule: 'StopRequested', reason: ['use the phone', 'bob'], step: 5, also: ['no capacity'] },
  },
  {
    name: 'a stopped run that went through a slim payload with its secrets removed',
    stage: async () => {
      const world = createWorld();
      const agent = createAgent({
        model: scriptedModel([call({ name: 'look', args: { note: poison } })], { repeatLast: true }),
        tools: [createTool('look', () => poison.repeat(20))],
        limits: { steps: 2 },
        ports: world.ports,
      });
      const { state } = await runIn(world, agent);
      const serializer = new SlimAgentStateSerializer(SlimSerializationConfig.minimal());
      // Holds: the agent has states of no other kind.
      const payload: unknown = JSON.parse(JSON.stringify(serializer.serialize(state as never)));
      return toStaged(world, serializer.deserialize(payload));
    },
    truth: { status: 'stopped', rule: 'StepsLimit', reason: ['2 of 2'], step: 2 },
  },
  {
    name: 'a waiting call whose arguments a slim payload cut',
    stage: async () => {
      const world = createWorld();
      const agent = createAgent({
        model: scriptedModel([call({ name: 'pay', id: 'pay-1', args: { note: 'x'.repeat(20_000), password: 'correct-horse-battery' } })]),
        tools: [createTool('pay', () => 'paid', { needsApproval: true })],
        ports: world.ports,
      });
      const { state } = await runIn(world, agent);
      const serializer = new SlimAgentStateSerializer(SlimSerializationConfig.standard());
      const payload: unknown = JSON.parse(JSON.stringify(serializer.serialize(state as never)));
      return toStaged(world, serializer.deserialize(payload));
    },
    truth: { status: 'waiting', reason: ['pay', 'pay-1'], step: 1, explained: [/cut|lost|removed|omitted|incomplete/i] },
  },
];
