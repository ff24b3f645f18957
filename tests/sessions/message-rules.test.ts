// What becomes of a message that comes while a session rests, runs or waits: every situation with every rule.
import { describe, expect, test } from 'vitest';
import type { Agent } from '../../src/entry/index.ts';
import { createAgent } from '../../src/entry/index.ts';
import { Message } from '../../src/messages/index.ts';
import type { ModelRequest } from '../../src/inference/index.ts';
import type { EmbeddedRuntime, SendOptions, SessionResult } from '../../src/sessions/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { pickSubjects } from '../support/test-scale.ts';
import type { Place, Stage } from './stage.ts';
import { ann, bob, getWait, obedientModel, places, readActions, readEvents, refusal, stageOn, until } from './stage.ts';

const runningRules = ['join', 'queue', 'interrupt'] as const;
const waitingRules = ['supersede', 'queue', 'refuse'] as const;
type Rules = Required<Pick<SendOptions, 'whileRunning' | 'whileWaiting'>>;

/** Becomes of the message: it is read by the first execution, or by a second one, or refused. */
type Fate = 'joins' | 'opens' | 'queued' | 'interrupts' | 'supersedes' | 'refused';

interface Situation {
  readonly order: string;
  readonly status: string;
  readonly agent?: (stage: Stage) => Agent;
  readonly options?: { readonly onOutage: 'park' };
  readonly expected: (rules: Rules) => Fate;
  /** Ends what runs or waits. */
  readonly end: (stage: Stage, runtime: EmbeddedRuntime) => Promise<unknown>;
}

const whileWaiting = { supersede: 'supersedes', queue: 'queued', refuse: 'refused' } as const;
const whileRunning = { join: 'joins', queue: 'queued', interrupt: 'interrupts' } as const;

/** A model whose provider is down for one order. */
function createDownModel() {
  const up = obedientModel();
  const error = { type: 'model', code: 'http-503', message: 'no capacity', retryable: true } as const;
  return scriptedModel(
    [
      (request: ModelRequest) =>
        request.messages.findLast((message) => message.isUser())?.text === 'down'
          ? { error }
          : { text: request.messages.at(-1)?.text ?? '' },
    ],
    { repeatLast: true, modelId: up.modelId },
  );
}

const situations: Readonly<Record<string, Situation>> = {
  'at rest': { order: 'say Hello', status: 'completed', expected: () => 'opens', end: () => Promise.resolve() },
  running: {
    order: 'slow 1',
    status: 'in_progress',
    expected: (rules) => whileRunning[rules.whileRunning],
    end: async ({ gate }) => gate.current.open(),
  },
  'waiting for an approval': {
    order: 'pay 5',
    status: 'waiting',
    expected: (rules) => whileWaiting[rules.whileWaiting],
    end: async (_stage, runtime) => runtime.approve('s', await getWait(runtime, 's'), { by: bob, until: 'accepted' }),
  },
  'waiting for an answer': {
    order: 'ask 5',
    status: 'waiting',
    expected: (rules) => whileWaiting[rules.whileWaiting],
    end: async (_stage, runtime) => runtime.answer('s', await getWait(runtime, 's'), { by: bob, value: 'blue', until: 'accepted' }),
  },
  'waiting for a grant': {
    order: 'look 1; look 2',
    status: 'waiting',
    agent: ({ agent }) => agent({ limits: { steps: 1, onLimit: 'pause' } }),
    expected: () => 'refused',
    end: (_stage, runtime) => runtime.grant('s', { steps: 5 }, { by: bob, until: 'accepted' }),
  },
  'waiting for a provider': {
    order: 'down',
    status: 'waiting',
    agent: ({ clock, ids }) => createAgent({ id: 'desk', model: createDownModel(), ports: { clock, ids } }),
    options: { onOutage: 'park' },
    expected: (rules) => whileWaiting[rules.whileWaiting],
    end: (_stage, runtime) => runtime.cancel('s', 'enough', { by: bob, until: 'accepted' }),
  },
};

const rows = Object.keys(situations).flatMap((name) =>
  runningRules.flatMap((running) => waitingRules.map((waiting) => [name, running, waiting] as const)),
);

/** A session in a situation. */
async function reach(place: Place, name: string) {
  const situation = situations[name] as Situation;
  const stage = stageOn(place);
  const start = (): EmbeddedRuntime =>
    stage.start({ agents: [situation.agent?.(stage) ?? stage.agent()], ...situation.options, onProblem: () => undefined });
  const runtime = start();
  await runtime.create({ id: 's' }, { by: ann });
  const first = runtime.send('s', situation.order, { by: ann, until: name === 'running' ? 'accepted' : 'rest' });
  if (name === 'running') await stage.gate.current.reached;
  for (let tries = 0; name === 'waiting for a provider' && tries < 100 && (await runtime.get('s')).status !== 'waiting'; tries += 1)
    await stage.clock.advance(10_000);
  await first;
  expect((await runtime.get('s')).status).toBe(situation.status);
  return { stage, runtime, situation, restart: start };
}

/** Fails unless the message had this fate. */
async function expectFate(fate: Fate, runtime: EmbeddedRuntime, result: SessionResult): Promise<void> {
  const { executions } = (await runtime.get('s')).state.session;
  const last = executions[0]?.results.last?.step;
  expect([executions.length, result.execution, result.status]).toStrictEqual(fate === 'joins' ? [1, 1, 'completed'] : [2, 2, 'completed']);
  if (fate === 'interrupts' || fate === 'supersedes') expect(last?.interrupted).toBe('superseded');
  if (fate === 'queued' || fate === 'opens' || fate === 'joins') expect(last?.interrupted ?? 'whole').not.toBe('superseded');
  const said = (await readEvents(runtime, 's')).filter((event) => event.type === 'UserMessageReceived');
  expect(said.map(({ text }) => text)).toContain('say More');
}

describe.each(pickSubjects(places))('a message to a session over %s', (_, makePlace) => {
  test.each(rows)('%s: %s, %s', async (name, running, waiting) => {
    const place = makePlace();
    const { stage, runtime, situation } = await reach(place, name);
    const rules = { whileRunning: running, whileWaiting: waiting };
    const fate = situation.expected(rules);
    const before = (await readActions(place.open(), 's')).length;
    const send = (): Promise<SessionResult> => runtime.send('s', 'say More', { by: bob, requestId: 'more', ...rules });
    if (fate === 'refused') {
      const error = await refusal(send(), 'message-refused');
      expect(error).toMatchObject({ waitIds: (await runtime.get('s')).waitingFor.map(({ id }) => id) });
      // No rule gets a message past a limit.
      expect(error.message).toContain(name === 'waiting for a grant' ? 'Raise the limit with grant(amounts)' : 'another whileWaiting');
      expect(await readActions(place.open(), 's')).toHaveLength(before);
      expect((await runtime.get('s')).status).toBe('waiting');
      await situation.end(stage, runtime);
      await until(async () => expect((await runtime.get('s')).waitingFor).toStrictEqual([]));
      return;
    }
    const sent = send();
    if (fate === 'queued' || fate === 'joins') {
      await until(async () => expect(await readActions(place.open(), 's')).toHaveLength(before + 1));
      expect((await runtime.get('s')).status).toBe(situation.status);
      expect((await runtime.get('s')).executions).toBe(1);
      await situation.end(stage, runtime);
    }
    await expectFate(fate, runtime, await sent);
    expect(await send()).toMatchObject({ isRepeated: true, execution: (await sent).execution });
    const [action] = (await readActions(place.open(), 's')).filter((each) => each.type === 'send' && each.by.id === 'bob');
    const stored = {
      ...(running !== 'join' && { whileRunning: running }),
      ...(waiting !== 'supersede' && { whileWaiting: waiting }),
    };
    expect(action).toMatchObject(stored);
    expect(Object.keys(action ?? {}).filter((key) => key.startsWith('while'))).toStrictEqual(Object.keys(stored));
  });

  test.each(
    rows.filter(([name, running, waiting]) => situations[name]?.expected({ whileRunning: running, whileWaiting: waiting }) === 'queued'),
  )('%s: %s, %s is still queued after a restart', async (name, running, waiting) => {
    const place = makePlace();
    const { stage, runtime, situation, restart } = await reach(place, name);
    const rules = { whileRunning: running, whileWaiting: waiting };
    await runtime.send('s', 'say More', { by: bob, requestId: 'more', until: 'accepted', ...rules });
    const next = restart();
    await next.ready;
    await until(async () => expect((await next.get('s')).status).toBe(situation.status));
    expect((await next.get('s')).executions).toBe(1);
    const again = next.send('s', 'say More', { by: bob, requestId: 'more', ...rules });
    await situation.end(stage, next);
    const result = await again;
    expect(result).toMatchObject({ execution: 2, status: 'completed', isRepeated: true });
    await expectFate('queued', next, result);
  });

  test('that interrupts keeps the text that had come, and comes before messages that were queued', async () => {
    const { stage, runtime } = await reach(makePlace(), 'running');
    const queued = ['one', 'two'].map((word) => runtime.send('s', `say ${word}`, { by: ann, whileRunning: 'queue' }));
    const interrupting = runtime.send('s', 'say Now', { by: bob, whileRunning: 'interrupt' });
    expect(await interrupting).toMatchObject({ execution: 2, text: 'Now' });
    expect(await Promise.all(queued)).toMatchObject([
      { execution: 3, text: 'one' },
      { execution: 4, text: 'two' },
    ]);
    const { state } = await runtime.get('s');
    expect(state.session.executions[0]).toMatchObject({ number: 1 });
    expect(state.session.executions[0]?.results.last?.outcome).toMatchObject({ stopReason: 'user_requested' });
    expect(state.session.executions[0]?.results.last?.outcome.explain()).toContain('interrupted by a new message');
    stage.gate.current.open();
  });

  test('that interrupts does so after a crash too, before anything new starts', async () => {
    const place = makePlace();
    const { stage, runtime, restart } = await reach(place, 'running');
    const store = place.open();
    await runtime.send('s', 'say Now', { by: bob, requestId: 'now', whileRunning: 'interrupt', until: 'accepted' });
    const asked = stage.model.calls.length;
    const next = restart();
    expect(await next.send('s', 'say Now', { by: bob, requestId: 'now', whileRunning: 'interrupt' })).toMatchObject({ execution: 2 });
    expect((await readActions(store, 's')).filter(({ type }) => type === 'send')).toHaveLength(2);
    expect(stage.model.calls.length - asked).toBeLessThanOrEqual(2);
    expect((await next.get('s')).state.session.executions[0]?.results.last?.step.interrupted).toBe('superseded');
  });

  test('with a rule that does not exist is refused', async () => {
    const { runtime } = await reach(makePlace(), 'at rest');
    // @ts-expect-error: there is no such rule.
    const error = await refusal(runtime.send('s', 'say More', { by: bob, whileRunning: 'wait' }), 'invalid-argument');
    expect(error.message).toBe('Unknown whileRunning of send() "wait". Use one of join, queue, interrupt.');
  });
});

describe.each(pickSubjects(places))('a message with the id of another one of the session is refused over %s', (_, makePlace) => {
  const same = Message.user('say Again', { id: 'm1' });
  const why = 'The session has a message with the id "m1" already. Send this one under another id.';

  test.each(['worker', 'client'] as const)('by a %s, at rest and while a call waits', async (role) => {
    const { start } = stageOn(makePlace());
    const worker = start({ role: 'worker' });
    const runtime = role === 'client' ? start({ role }) : worker;
    await runtime.create({ id: 's' }, { by: ann });
    const first = Message.user('say Hello', { id: 'm1' });
    await runtime.send('s', first, { by: ann, requestId: 'r' });
    expect((await refusal(runtime.send('s', same, { by: ann }), 'invalid-argument')).message).toBe(why);
    // The same request once more is no other message.
    expect(await runtime.send('s', first, { by: ann, requestId: 'r' })).toMatchObject({ isRepeated: true, text: 'Hello' });
    await runtime.send('s', 'pay 5', { by: ann });
    for (const whileWaiting of waitingRules) await refusal(runtime.send('s', same, { by: ann, whileWaiting }), 'invalid-argument');
    const { state, status } = await runtime.get('s');
    expect([status, state.messages.filter(({ id }) => id === 'm1').length]).toEqual(['waiting', 1]);
    const answer = state.messages.find((message) => message.isAssistant())?.id ?? '';
    await refusal(runtime.send('s', Message.user('say Again', { id: answer }), { by: ann }), 'invalid-argument');
  });

  test.each(runningRules.filter((rule) => rule !== 'join'))('while it runs, also if that one is only queued: %s', async (whileRunning) => {
    const { start, gate } = stageOn(makePlace());
    const runtime = start();
    await runtime.create({ id: 's' }, { by: ann });
    const running = runtime.send('s', 'slow 1', { by: ann });
    await gate.current.reached;
    const queued = runtime.send('s', Message.user('say Once', { id: 'm1' }), { by: ann, whileRunning: 'queue' });
    await until(async () => expect(await runtime.actions('s')).toHaveLength(3));
    expect((await refusal(runtime.send('s', same, { by: ann, whileRunning }), 'invalid-argument')).message).toBe(why);
    gate.current.open();
    await running;
    expect(await queued).toMatchObject({ text: 'Once' });
  });
});
