// A provider that is down: sessions wait for it, and go on by themselves.
import { describe, expect, test } from 'vitest';
import { createChat, llmParticipant } from '../../src/chat/index.ts';
import { ErrorPolicy } from '../../src/entry/index.ts';
import type { SessionRuntimeOptions } from '../../src/sessions/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import type { Failure } from '../../src/errors/index.ts';
import type { ScriptedAnswer } from '../../src/testing/index.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import type { Agent, AgentOptions } from '../../src/entry/index.ts';
import type { Place, Stage } from './stage.ts';
import { ann, readEvents, places, refusal, stageOn, until } from './stage.ts';

const noCapacity: Failure = { type: 'model', code: 'http-503', message: 'no capacity', retryable: true };
const minute = 60_000;
const hour = 60 * minute;
const start = Date.UTC(2026, 0, 1);

type Options = Partial<Omit<AgentOptions, 'model' | 'capabilities' | 'tools'>>;

/** A stage whose model fails with `provider.failure` until that is undefined. */
function createOutage(place: Place, options: Options = {}) {
  const stage: Stage = stageOn(place);
  const provider: { failure: Failure | 'hangs' | undefined } = { failure: noCapacity };
  const answer = (): ScriptedAnswer | Promise<ScriptedAnswer> => {
    if (provider.failure === 'hangs') return new Promise(() => undefined);
    return provider.failure === undefined ? { text: 'Done.' } : { error: provider.failure, usage: { input: 3, output: 0 } };
  };
  const model = scriptedModel([answer], { repeatLast: true });
  const { clock, ids } = stage;
  const agent = (): Agent => stage.agent({ ports: { clock, ids, random: () => 0.999_999 }, ...options, ...{ model } });
  const open = (more: Partial<SessionRuntimeOptions> = {}) => stage.start({ agents: [agent()], onOutage: 'park', ...more });
  return { stage, provider, model, clock, open };
}

/** Sends a message, and moves the clock on until the retries are used up. */
async function begin(outage: ReturnType<typeof createOutage>, more: Partial<SessionRuntimeOptions> = {}) {
  const runtime = outage.open(more);
  await runtime.create({ id: 's' }, { by: ann });
  const sent = runtime.send('s', 'Hello.', { by: ann });
  // Waits of 1, 2, 4 and 8 s, a millisecond less each.
  for (let second = 0; second < 15; second += 1) await outage.clock.advance(1000);
  return { runtime, parked: await sent };
}

const createPlace = createMemoryPlace;

describe('with onOutage: "park"', () => {
  test('the session waits for the provider once the retries are used up, and says when the next try is', async () => {
    const outage = createOutage(createPlace());
    const { runtime, parked } = await begin(outage);
    const wait = { type: 'provider', id: 'provider', reason: 'no capacity', tries: 1, since: start };
    expect(parked).toMatchObject({ status: 'waiting', waitingFor: [wait] });
    const [found] = (await runtime.get('s')).waitingFor;
    if (found?.type !== 'provider') throw new Error('it does not wait for a provider');
    expect([found.giveUpAt, found.nextTryAt - start]).toStrictEqual([start + hour, 14_996 + 29_999]);
    expect((await runtime.get('s')).explain().split('\n')[0]).toBe(
      'Waiting in step 5 for the provider, which has been down since 2026-01-01T00:00:00.000Z (no capacity): next try at 2026-01-01T00:00:44.995Z, last try at 2026-01-01T01:00:00.000Z.',
    );
    const events = await readEvents(runtime, 's');
    expect(events.slice(-3)).toMatchObject([
      { type: 'RetryScheduled', delayMs: 29_999 },
      { type: 'AgentStateUpdated', status: 'waiting' },
      { type: 'AgentFinished', status: 'waiting' },
    ]);
    expect(events.some(({ type }) => type === 'AgentFailed')).toBe(false);
  });

  test('it goes on by itself when the provider is back, and the tries take no steps', async () => {
    const outage = createOutage(createPlace());
    const { runtime } = await begin(outage);
    const countCalls = (): number => outage.model.calls.length;
    expect(countCalls()).toBe(5);
    await outage.clock.advance(29_000);
    expect(countCalls()).toBe(5);
    await outage.clock.advance(1000);
    expect(countCalls()).toBe(6);
    expect((await runtime.get('s')).waitingFor).toMatchObject([{ type: 'provider', tries: 2 }]);
    await outage.clock.advance(minute);
    expect(countCalls()).toBe(7);
    outage.provider.failure = undefined;
    await outage.clock.advance(2 * minute);
    const session = await runtime.get('s');
    expect(session).toMatchObject({ status: 'completed', text: 'Done.', stepCount: 5 });
    expect((await runtime.actions('s')).filter(({ type }) => type === 'resume')).toMatchObject([
      { by: { id: 'outage', kind: 'system' } },
      { by: { id: 'outage', kind: 'system' } },
      { by: { id: 'outage', kind: 'system' } },
    ]);
    const started = (await readEvents(runtime, 's')).filter(({ type }) => type === 'AgentStepStarted').map(({ stepNumber }) => stepNumber);
    expect(started).toStrictEqual([1, 2, 3, 4, 5]);
    expect(outage.stage.problems).toStrictEqual([]);
  });

  test('waits grow to five minutes', async () => {
    const outage = createOutage(createPlace());
    await begin(outage);
    const tries: number[] = [];
    for (let second = 0; second < 20 * 60; second += 1) {
      const before = outage.model.calls.length;
      await outage.clock.advance(1000);
      if (outage.model.calls.length > before) tries.push(Math.round((outage.clock.now() - start) / 1000));
    }
    // 30 s, 1, 2, 4, then 5 min after the fifteenth second.
    expect(tries).toStrictEqual([45, 105, 225, 465, 765, 1065]);
  });

  test('it goes on in the next process, also if that starts after the time of the next try', async () => {
    const place = createPlace();
    const outage = createOutage(place);
    const { runtime } = await begin(outage);
    await runtime.drain();
    outage.provider.failure = undefined;
    await outage.clock.advance(10 * minute);
    expect(outage.model.calls.length).toBe(5);
    const next = outage.open();
    await next.ready;
    await outage.clock.advance(0);
    expect(await next.get('s')).toMatchObject({ status: 'completed', text: 'Done.' });
  });

  test('the next process waits for what is left of the time', async () => {
    const outage = createOutage(createPlace());
    const { runtime } = await begin(outage);
    await outage.clock.advance(10_000);
    await runtime.drain();
    outage.provider.failure = undefined;
    const next = outage.open();
    await next.ready;
    await outage.clock.advance(18_000);
    expect(await next.get('s')).toMatchObject({ status: 'waiting' });
    await outage.clock.advance(2000);
    expect(await next.get('s')).toMatchObject({ status: 'completed' });
  });

  test('it fails as it would have once the longest time is over', async () => {
    const outage = createOutage(createPlace());
    const { runtime } = await begin(outage, { onOutage: { maxMs: 2 * minute } });
    expect((await runtime.get('s')).waitingFor).toMatchObject([{ giveUpAt: start + 2 * minute }]);
    for (let second = 0; second < 180; second += 1) await outage.clock.advance(1000);
    const session = await runtime.get('s');
    expect(session).toMatchObject({ status: 'failed', stopReason: 'retry_limit', stepCount: 5, waitingFor: [] });
    expect(session.explain()).toContain('fifth failure in a row after 120 s (limit: 3 failures and 10 s, whichever comes later)');
    await outage.clock.advance(hour);
    expect(outage.model.calls.length).toBe(8);
  });

  test('resume tries at once', async () => {
    const outage = createOutage(createPlace());
    const { runtime } = await begin(outage);
    expect(await runtime.resume('s', { by: ann })).toMatchObject({ status: 'waiting', waitingFor: [{ type: 'provider', tries: 2 }] });
    outage.provider.failure = undefined;
    expect(await runtime.resume('s', { by: ann })).toMatchObject({ status: 'completed', text: 'Done.' });
    await outage.clock.advance(hour);
    expect(outage.model.calls.length).toBe(7);
  });

  test('a cancel ends it', async () => {
    const outage = createOutage(createPlace());
    const { runtime } = await begin(outage);
    expect(await runtime.cancel('s', 'never mind', { by: ann })).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    await outage.clock.advance(hour);
    expect(outage.model.calls.length).toBe(5);
  });

  test('a message gives up what waited, and is read at once', async () => {
    const outage = createOutage(createPlace());
    const { runtime } = await begin(outage);
    outage.provider.failure = undefined;
    expect(await runtime.send('s', 'Are you there?', { by: ann })).toMatchObject({ status: 'completed', execution: 2, text: 'Done.' });
    const texts = outage.model.calls.at(-1)?.messages.map(({ text }) => text);
    expect(texts).toStrictEqual(['Hello.', 'Are you there?']);
    await outage.clock.advance(hour);
    expect(outage.model.calls.length).toBe(6);
  });

  test('it cannot be approved or answered', async () => {
    const outage = createOutage(createPlace());
    const { runtime, parked } = await begin(outage);
    const [wait] = parked.waitingFor;
    if (wait === undefined) throw new Error('it does not wait');
    const { message } = await refusal(runtime.answer('s', wait, { value: 1, by: ann }), 'invalid-argument');
    expect(message).toContain('is a wait of type provider. Answer it with retryNow()');
  });
});

test.each(places)('a session that waits in a store (%s) is found by the next process and goes on', async (_, createAnyPlace) => {
  const outage = createOutage(createAnyPlace(), { errors: ErrorPolicy.retryAll(1) });
  const runtime = outage.open();
  await runtime.create({ id: 's' }, { by: ann });
  expect(await runtime.send('s', 'Hello.', { by: ann })).toMatchObject({ status: 'waiting', waitingFor: [{ type: 'provider', tries: 1 }] });
  expect(await runtime.list({ status: 'waiting' })).toMatchObject({ sessions: [{ id: 's', waitingFor: [{ type: 'provider' }] }] });
  await runtime.drain();
  const next = outage.open();
  await next.ready;
  await outage.clock.advance(30_000);
  await until(async () => expect(await next.get('s')).toMatchObject({ waitingFor: [{ type: 'provider', tries: 2 }] }));
  outage.provider.failure = undefined;
  await outage.clock.advance(60_000);
  await until(async () => expect(await next.get('s')).toMatchObject({ status: 'completed', text: 'Done.', stepCount: 1 }));
});

test('a process that dies during a try leaves it to the next one', async () => {
  const outage = createOutage(createPlace());
  await begin(outage);
  outage.provider.failure = 'hangs';
  await outage.clock.advance(30_000);
  expect(outage.model.calls.length).toBe(6);
  outage.provider.failure = noCapacity;
  const next = outage.open();
  await next.ready;
  await outage.clock.advance(0);
  expect((await next.get('s')).waitingFor).toMatchObject([{ type: 'provider', tries: 2, since: start }]);
});

test('what the tries cost is counted', async () => {
  const outage = createOutage(createPlace());
  const { runtime } = await begin(outage);
  await outage.clock.advance(30_000);
  expect((await runtime.get('s')).usage.input).toBe(6 * 3);
  outage.provider.failure = undefined;
  await outage.clock.advance(60_000);
  expect(await runtime.get('s')).toMatchObject({ status: 'completed', usage: { input: 6 * 3 } });
});

test('a turn of a chat waits too, if the chat retries', async () => {
  const outage = createOutage(createPlace());
  const { clock } = outage.stage;
  const { ids } = outage.stage;
  const m = llmParticipant({ name: 'm', model: outage.model, errors: ErrorPolicy.stopOnAnyError() });
  const chat = createChat({ id: 'panel', participants: [m], errors: ErrorPolicy.retryAll(1), ports: { clock, ids } });
  const runtime = outage.open({ agents: [chat] });
  await runtime.create({ id: 's' }, { by: ann });
  const parked = await runtime.send('s', 'Hello.', { by: ann });
  expect(parked).toMatchObject({ status: 'waiting', waitingFor: [{ type: 'provider', reason: 'no capacity' }] });
  expect(parked.explain()).toContain('Waiting in step 1 (turn of m) for the provider');
  outage.provider.failure = undefined;
  expect(await runtime.resume('s', { by: ann })).toMatchObject({ status: 'completed', text: 'Done.' });
});

describe('a clock that jumps while a session waits for a provider', () => {
  /** Returns the minutes after which the provider was tried, in a little more than an hour. */
  async function findTries(outage: ReturnType<typeof createOutage>): Promise<readonly number[]> {
    const found: number[] = [];
    for (let minutes = 1; minutes <= 65; minutes += 1) {
      const before = outage.model.calls.length;
      await outage.clock.advance(minute);
      if (outage.model.calls.length > before) found.push(minutes);
    }
    return found;
  }

  test('back makes it wait until the stored time, and changes neither the tries nor the longest time', async () => {
    const outage = createOutage(createPlace());
    const { runtime } = await begin(outage);
    const before = outage.model.calls.length;
    outage.clock.shiftWall(-2 * hour);
    // Half of the first pause has passed: no try comes on the stroke of a minute.
    await outage.clock.advance(2 * hour + 15_000);
    expect(outage.model.calls.length).toBe(before);
    // 30 s, 1, 2, 4 min, then every 5 min, and a last one when the hour is over.
    expect(await findTries(outage)).toStrictEqual([1, 2, 4, 8, 13, 18, 23, 28, 33, 38, 43, 48, 53, 58, 60]);
    expect(await runtime.get('s')).toMatchObject({ status: 'failed', stopReason: 'retry_limit', stepCount: 5 });
  });

  test('forward beyond the longest time leaves one try', async () => {
    const outage = createOutage(createPlace());
    const { runtime } = await begin(outage);
    outage.clock.shiftWall(2 * hour);
    expect(await findTries(outage)).toStrictEqual([1]);
    expect(await runtime.get('s')).toMatchObject({ status: 'failed', stopReason: 'retry_limit', stepCount: 5 });
  });

  test('back does not make it wait beyond the stored time if something else is done to the session', async () => {
    const outage = createOutage(createPlace());
    const { runtime } = await begin(outage);
    const [wait] = (await runtime.get('s')).waitingFor;
    if (wait?.type !== 'provider') throw new Error('it does not wait for the provider');
    outage.clock.shiftWall(-2 * hour);
    await runtime.grant('s', { steps: 1 }, { by: ann, until: 'accepted' });
    outage.provider.failure = undefined;
    await outage.clock.advance(wait.nextTryAt - outage.clock.now() - 1);
    expect(await runtime.get('s')).toMatchObject({ status: 'waiting' });
    await outage.clock.advance(1);
    expect(await runtime.get('s')).toMatchObject({ status: 'completed' });
  });

  test('back during the retries does not make it wait for longer', async () => {
    const outage = createOutage(createPlace());
    const runtime = outage.open();
    await runtime.create({ id: 's' }, { by: ann });
    const sent = runtime.send('s', 'Hello.', { by: ann });
    for (let second = 0; second < 15; second += 1) {
      if (second === 3) outage.clock.shiftWall(-2 * hour);
      await outage.clock.advance(1000);
    }
    await sent;
    const events = await readEvents(runtime, 's');
    expect(events.findLast(({ type }) => type === 'RetryScheduled')).toMatchObject({ delayMs: 29_999 });
    outage.provider.failure = undefined;
    await outage.clock.advance(30_000);
    expect(await runtime.get('s')).toMatchObject({ status: 'completed' });
  });

  test.each([
    ['after a restart', 0],
    ['after a restart with a clock that was set back', -5 * hour],
  ])('%s, it is tried at the time that the provider asked for, as it is stored', async (_, jumpMs) => {
    const outage = createOutage(createPlace());
    outage.provider.failure = { ...noCapacity, type: 'rate_limit', retryAfterMs: 30 * minute };
    const first = outage.open();
    await first.create({ id: 's' }, { by: ann });
    await first.send('s', 'Hello.', { by: ann });
    await first.drain();
    outage.clock.shiftWall(jumpMs);
    const next = outage.open();
    await next.ready;
    await outage.clock.advance(30 * minute - 1 - jumpMs);
    expect(outage.model.calls.length).toBe(1);
    outage.provider.failure = undefined;
    await outage.clock.advance(1);
    expect(await next.get('s')).toMatchObject({ status: 'completed' });
    expect(outage.model.calls.length).toBe(2);
  });
});

test('a longest time beyond all dates can be explained', async () => {
  const outage = createOutage(createPlace());
  const { parked } = await begin(outage, { onOutage: { maxMs: Number.MAX_VALUE } });
  expect(parked.explain()).toContain('last try at +275760-09-13T00:00:00.000Z');
});

describe('what is an outage', () => {
  test.each([
    ['a rate limit', { type: 'rate_limit', code: 'http-429' }, 'waiting'],
    ['a time-out', { type: 'timeout', code: 'timed-out' }, 'waiting'],
    ['a lost connection', { code: 'ECONNRESET' }, 'waiting'],
    ['a Retry-After that is too long for a run', { type: 'rate_limit', retryAfterMs: 20 * minute }, 'waiting'],
    ['a Retry-After beyond the longest time', { type: 'rate_limit', retryAfterMs: 2 * hour }, 'failed'],
    ['a wrong key', { code: 'http-401', retryable: false }, 'failed'],
    ['an empty answer', { code: 'empty-response' }, 'failed'],
    ['an answer that cannot be read', { type: 'validation', code: 'invalid-output' }, 'failed'],
  ] as const)('%s: %s', async (_, fields, status) => {
    const outage = createOutage(createPlace());
    outage.provider.failure = { ...noCapacity, ...fields };
    expect((await begin(outage)).parked.status).toBe(status);
  });

  test('the time that a provider asks for is waited for', async () => {
    const outage = createOutage(createPlace());
    outage.provider.failure = { ...noCapacity, type: 'rate_limit', retryAfterMs: 20 * minute };
    const { runtime } = await begin(outage);
    expect((await runtime.get('s')).waitingFor).toMatchObject([{ nextTryAt: start + 20 * minute }]);
    outage.provider.failure = undefined;
    await outage.clock.advance(20 * minute);
    expect(await runtime.get('s')).toMatchObject({ status: 'completed', stepCount: 1 });
  });

  test('not if a policy does not retry, or a limit is reached as well', async () => {
    const careful = createOutage(createPlace(), { errors: ErrorPolicy.stopOnAnyError() });
    expect((await begin(careful)).parked).toMatchObject({ status: 'failed', stopReason: 'error' });
    const limited = createOutage(createPlace(), { limits: { steps: 5 } });
    expect((await begin(limited)).parked).toMatchObject({ status: 'failed', stopReason: 'retry_limit' });
  });

  test('not unless it is asked for', async () => {
    const outage = createOutage(createPlace());
    expect((await begin(outage, { onOutage: 'fail' })).parked).toMatchObject({ status: 'failed', stopReason: 'retry_limit' });
  });

  test.each([['wait'], [{ maxMs: 0 }], [{ maxMs: Number.NaN }], [{}], [{ maxMs: 1, retries: 2 }]])(
    'onOutage: %o is refused',
    (onOutage) => {
      const outage = createOutage(createPlace());
      // Holds: that is what a caller without types can do.
      const options = { onOutage } as unknown as Partial<SessionRuntimeOptions>;
      expect(() => outage.open(options)).toThrow('onOutage must be "fail", "park" or { maxMs }');
    },
  );

  test('a runtime that does not park any more takes a parked session up, and lets it fail', async () => {
    const place = createPlace();
    const outage = createOutage(place);
    const { runtime } = await begin(outage);
    await runtime.drain();
    const next = outage.open({ onOutage: 'fail' });
    await next.ready;
    await outage.clock.advance(minute);
    expect(await next.get('s')).toMatchObject({ status: 'failed', stopReason: 'retry_limit', stepCount: 5 });
  });
});

test('a model that failed while a fallback answered stays skipped in the next process', async () => {
  const stage = stageOn(createPlace());
  const down = scriptedModel([{ error: noCapacity }], { provider: 'p', modelId: 'down', repeatLast: true });
  const up = scriptedModel([{ text: 'Done.' }], { provider: 'p', modelId: 'up', repeatLast: true });
  const agents = [stage.agent({ ...{ model: down }, fallback: [up] })];
  const runtime = stage.start({ agents });
  await runtime.create({ id: 's' }, { by: ann });
  await runtime.send('s', 'One.', { by: ann });
  await runtime.drain();
  const next = stage.start({ agents });
  await next.send('s', 'Two.', { by: ann });
  expect([down.calls.length, up.calls.length]).toStrictEqual([1, 2]);
  expect((await next.get('s')).explain()).toContain('Model p/down is skipped until');
});
