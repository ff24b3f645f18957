// Approvals that expire, with a wall clock that is set forward or back: their stored time counts.
import { describe, expect, test } from 'vitest';
import { pickSubjects } from '../support/test-scale.ts';
import type { Stage } from './stage.ts';
import { ann, bob, places, stageOn, until, getWait } from './stage.ts';

const hour = 60 * 60 * 1000;
const approvals = { expireAfterMs: 400 } as const;

describe.each(pickSubjects(places))('approvals over %s', (_, makePlace) => {
  async function park(stage: Stage, words = 'pay 5') {
    const runtime = stage.start({ approvals });
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', words, { by: ann });
    return runtime;
  }

  test('expire at their stored time, if the clock is set back while the process lives', async () => {
    const stage = stageOn(makePlace());
    const runtime = await park(stage);
    await stage.clock.advance(100);
    stage.clock.shiftWall(-hour);
    await stage.clock.advance(hour + 299);
    expect((await runtime.get('one')).status).toBe('waiting');
    await stage.clock.advance(1);
    await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
  });

  test('expire no later than in their time, if the clock is set forward while the process lives', async () => {
    const stage = stageOn(makePlace());
    const runtime = await park(stage);
    await stage.clock.advance(100);
    stage.clock.shiftWall(hour);
    await stage.clock.advance(300);
    await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
  });

  test.each([
    ['back', -hour],
    ['forward', hour],
  ])('that are asked for after the clock was set %s get their whole time', async (_way, jumpMs) => {
    const stage = stageOn(makePlace());
    const runtime = stage.start({ approvals });
    await runtime.ready;
    stage.clock.shiftWall(jumpMs);
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'pay 5', { by: ann });
    await stage.clock.advance(399);
    expect((await runtime.get('one')).status).toBe('waiting');
    await stage.clock.advance(1);
    await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
  });

  test('get no more time by an answer to another one after the clock was set back', async () => {
    const stage = stageOn(makePlace());
    const runtime = await park(stage, 'pay 5 & pay 6');
    await stage.clock.advance(100);
    stage.clock.shiftWall(-hour);
    const [first] = (await runtime.get('one')).waitingFor;
    if (first === undefined) throw new Error('nothing waits');
    await runtime.approve('one', first, { by: bob });
    await stage.clock.advance(hour + 299);
    expect((await runtime.get('one')).status).toBe('waiting');
    await stage.clock.advance(1);
    await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
    expect(stage.ran).toStrictEqual(['pay 5']);
  });

  test.each(['before', 'after'])('expire at the stored time after a restart, if the clock is set back %s it', async (when) => {
    const stage = stageOn(makePlace());
    await (await park(stage)).drain();
    await stage.clock.advance(150);
    if (when === 'before') stage.clock.shiftWall(-hour);
    const runtime = stage.start({ approvals });
    await runtime.ready;
    if (when === 'after') stage.clock.shiftWall(-hour);
    await stage.clock.advance(hour + 249);
    expect((await runtime.get('one')).status).toBe('waiting');
    await stage.clock.advance(1);
    await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
  });

  test('of two sessions expire after a restart each at its own stored time', async () => {
    const stage = stageOn(makePlace());
    const before = await park(stage, 'pay 5');
    await before.create({ id: 'two' }, { by: ann });
    await stage.clock.advance(300);
    await before.send('two', 'pay 6', { by: ann });
    await before.drain();
    const runtime = stage.start({ approvals });
    await runtime.ready;
    await stage.clock.advance(100);
    await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
    await stage.clock.advance(299);
    expect((await runtime.get('two')).status).toBe('waiting');
    await stage.clock.advance(1);
    await until(async () => expect((await runtime.get('two')).status).toBe('completed'));
  });

  test('are looked for again if the store failed when they expired', async () => {
    const stage = stageOn(makePlace());
    const store = stage.place.open();
    let isBroken = false;
    const runtime = stage.start({
      approvals,
      store: { ...store, log: { ...store.log, load: (id) => (isBroken ? Promise.reject(new Error('unplugged')) : store.log.load(id)) } },
      keepInMemory: 0,
    });
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'pay 5', { by: ann });
    isBroken = true;
    await stage.clock.advance(400);
    expect(stage.problems).toHaveLength(1);
    isBroken = false;
    expect(await getWait(runtime, 'one')).toBeDefined();
    await stage.clock.advance(60_000);
    await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
  });
});
