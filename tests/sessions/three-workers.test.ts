// What happens once, and in order, although three workers could do it.
import { expect, test } from 'vitest';
import type { EmbeddedRuntime, EventDelivery, SessionRuntimeOptions } from '../../src/sessions/index.ts';
import { createFakeClock, scriptedModel } from '../../src/testing/index.ts';
import { createAgent } from '../../src/entry/index.ts';
import type { Place } from './stage.ts';
import { ann, places, readEvents, stageOn, until } from './stage.ts';

/** Three workers, whose signs of life come with one clock. */
function startThree(place: Place, more: Partial<SessionRuntimeOptions> = {}) {
  const heartbeatClock = createFakeClock();
  const stage = stageOn(place);
  const options = { silenceMs: 15_000, heartbeatClock, ...more };
  const start = (name: string): EmbeddedRuntime => stage.start({ ...options, name });
  const workers = [start('first'), start('second'), start('third')] as const;
  /** Lets each worker look for sessions, so that all of them know when one is to be woken. */
  const look = async (): Promise<void> => {
    for (let passed = 0; passed < 2500; passed += 500) await heartbeatClock.advance(500);
  };
  const drain = async (): Promise<void> => {
    await Promise.all(workers.map((worker) => worker.drain()));
  };
  return { stage, workers, look, drain };
}

const names = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Sends a message to sessions, those of each worker in turn. */
async function sendAll(workers: readonly EmbeddedRuntime[], text: string, until: 'rest' | 'accepted' = 'rest'): Promise<void> {
  const sending = names.map(async (id, index) => {
    const worker = workers[index % workers.length];
    await worker?.create({ id }, { by: ann });
    await worker?.send(id, text, { by: ann, until });
  });
  await Promise.all(sending);
}

/** Sends another message to each session, by another worker than the first one. */
async function sendAgain(workers: readonly EmbeddedRuntime[]): Promise<void> {
  const sending = names.map(async (id, index) => {
    await workers[(index + 1) % workers.length]?.send(id, 'look 3; say Again.', { by: ann });
  });
  await Promise.all(sending);
}

test.each(places)('an approval that nobody gives expires once (%s)', async (_, newPlace) => {
  const approvals = { expireAfterMs: 60_000, whenExpired: 'approve' } as const;
  const { stage, workers, look, drain } = startThree(newPlace(), { approvals });
  await sendAll(workers, 'pay 5; say Paid.');
  await look();
  expect(stage.ran).toStrictEqual([]);
  await stage.clock.advance(60_000);
  const [first] = workers;
  await until(async () => expect((await first.list({ status: 'completed' })).sessions.length).toBe(names.length));
  expect(stage.ran.length).toBe(names.length);
  for (const id of names) {
    const decided = (await first.actions(id)).filter(({ by }) => by.id === 'expiry');
    expect(decided).toMatchObject([{ type: 'approve' }]);
  }
  expect(stage.problems).toStrictEqual([]);
  await drain();
});

test.each(places)('a session that waits for a provider is tried once each time (%s)', async (_, newPlace) => {
  const failure = { type: 'model', code: 'http-503', message: 'no capacity', retryable: true };
  const model = scriptedModel([{ error: failure }], { repeatLast: true });
  const place = newPlace();
  const { clock, ids } = stageOn(place);
  const agent = createAgent({ id: 'desk', model, ports: { clock, ids, random: () => 0.999_999 } });
  const { workers, look, drain } = startThree(place, { agents: [agent], onOutage: 'park', clock, ids });
  const sent = sendAll(workers, 'Hello.');
  for (let second = 0; second < 16; second += 1) await clock.advance(1000);
  await sent;
  expect(model.calls.length).toBe(5 * names.length);
  await look();
  for (const tries of [1, 2]) {
    await clock.advance(tries * 30_000);
    await until(async () => {
      const waits = (await workers[0].list()).sessions.flatMap((session) => ('damage' in session ? [] : session.waitingFor));
      expect(waits.length).toBe(names.length);
      expect(model.calls.length).toBeGreaterThanOrEqual((5 + tries) * names.length);
    });
    await look();
    expect(model.calls.length).toBe((5 + tries) * names.length);
  }
  for (const id of names) {
    const tried = (await workers[0].actions(id)).filter(({ by }) => by.id === 'outage');
    expect(tried.map(({ type }) => type)).toStrictEqual(['resume', 'resume']);
  }
  await drain();
});

test.each(places)(
  'events are delivered once and in order, although three workers deliver under the same name (%s)',
  async (_, newPlace) => {
    const { stage, workers, look, drain } = startThree(newPlace());
    const accepted: EventDelivery[] = [];
    for (const worker of workers) worker.deliver('desk', (delivery) => void accepted.push(delivery));
    await sendAll(workers, 'look 1; look 2; say Found.');
    await look();
    await sendAgain(workers);
    for (const id of names) {
      const stored = (await readEvents(workers[0], id)).map(({ seq }) => seq);
      const getSent = (): readonly number[] =>
        accepted.flatMap(({ sessionId, events }) => (sessionId === id ? events.map(({ seq }) => seq) : []));
      await until(() => expect(getSent()).toStrictEqual(stored));
    }
    expect(new Set(accepted.map(({ id }) => id)).size).toBe(accepted.length);
    expect(stage.problems).toStrictEqual([]);
    await drain();
  },
);

test.each(places)('a hold binds all workers, whoever put it, until it is released (%s)', async (_, newPlace) => {
  const { stage, workers, look, drain } = startThree(newPlace());
  const [first, , third] = workers;
  await Promise.all(workers.map((worker) => worker.ready));
  const hold = await first.hold({}, 'maintenance');
  await look();
  await sendAll(workers, 'say Hello.', 'accepted');
  await look();
  expect([stage.model.calls.length, (await third.holds()).length]).toStrictEqual([0, 1]);
  await third.release(hold.id);
  await look();
  await until(async () => expect((await first.list({ status: 'completed' })).sessions.length).toBe(names.length));
  expect(stage.model.calls.length).toBe(names.length);
  await drain();
});
