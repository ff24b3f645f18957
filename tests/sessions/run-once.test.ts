// Sessions without a worker: whoever has the agent runs one of them for a while.
import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../../src/testing/index.ts';
import { ann, createGate, places, stageOn, until } from './stage.ts';

describe.each(places)('runOnce() on %s', (_, makePlace) => {
  test('runs what a client has asked for until nothing is left to do', async () => {
    const stage = stageOn(makePlace());
    const client = stage.start({ role: 'client' });
    await client.create({ id: 'one' }, { by: ann });
    const sent = client.send('one', 'note 1; say Hello', { by: ann });
    await until(async () => expect((await client.health()).waitingActions).toBe(1));
    const ran = await client.runOnce('one', { untilMs: 10_000 });
    expect([ran.type, ran.type === 'rested' && ran.session.text]).toStrictEqual(['rested', 'Hello']);
    expect((await sent).text).toBe('Hello');
    expect(stage.ran).toStrictEqual(['note 1']);
  });

  test('says that nothing is left to do, and does nothing', async () => {
    const stage = stageOn(makePlace());
    const client = stage.start({ role: 'client' });
    await client.create({ id: 'one' }, { by: ann });
    expect((await client.runOnce('one', { untilMs: 1000 })).type).toBe('rested');
    await expect(client.runOnce('two', { untilMs: 1000 })).rejects.toMatchObject({ code: 'unknown-session' });
  });

  test('also runs what an earlier claim got, if its answer was lost', async () => {
    const stage = stageOn(makePlace());
    const client = stage.start({ role: 'client' });
    for (const id of ['one', 'two']) {
      await client.create({ id }, { by: ann });
      await client.send(id, `note ${id.length}; say ${id}`, { by: ann, until: 'accepted' });
    }
    const open = stage.place.open();
    let isLost = true;
    // The next claim of a worker gets the answer that it has not seen.
    const claim: typeof open.leases.claim = (query) => {
      if (!isLost || query.sessionIds === undefined) return open.leases.claim(query);
      isLost = false;
      return open.leases.claim({ ...query, sessionIds: ['one'] });
    };
    const other = stage.start({ role: 'client', store: { ...open, leases: { ...open.leases, claim } } });
    const ran = await other.runOnce('two', { untilMs: 10_000 });
    expect([ran.type, ran.type === 'rested' && ran.session.text]).toStrictEqual(['rested', 'two']);
    await until(async () => expect((await client.get('one')).text).toBe('one'));
  });

  test('leaves the session between two steps when the time is over, and another continues', async () => {
    const stage = stageOn(makePlace());
    const client = stage.start({ role: 'client' });
    await client.create({ id: 'one' }, { by: ann });
    await client.send('one', 'slow 1; note 2; say End', { by: ann, until: 'accepted' });
    const running = client.runOnce('one', { untilMs: 5000 });
    await stage.gate.current.reached;
    await stage.clock.advance(5000);
    stage.gate.current.open();
    expect((await running).type).toBe('left');
    expect(stage.ran).toStrictEqual(['slow 1']);
    stage.gate.current = createGate();
    const other = stage.start({ role: 'client' });
    const ended = await other.runOnce('one', { untilMs: 5000 });
    expect([ended.type, ended.type === 'rested' && ended.session.text]).toStrictEqual(['rested', 'End']);
    expect(stage.ran).toStrictEqual(['slow 1', 'note 2']);
  });

  test('says which worker runs a session', async () => {
    const stage = stageOn(makePlace());
    const live = { silenceMs: 15_000, heartbeatClock: createFakeClock() };
    const worker = stage.start({ ...live, name: 'the worker' });
    await worker.create({ id: 'one' }, { by: ann });
    const sent = worker.send('one', 'slow 1; say End', { by: ann });
    await stage.gate.current.reached;
    const other = stage.start({ ...live, role: 'client' });
    const found = await other.runOnce('one', { untilMs: 1000 });
    expect([found.type, found.type === 'owned' && found.worker.name]).toStrictEqual(['owned', 'the worker']);
    stage.gate.current.open();
    expect((await sent).text).toBe('End');
  });

  test('runs a session once at a time, also in one process', async () => {
    const stage = stageOn(makePlace());
    const client = stage.start({ role: 'client', name: 'the function' });
    await client.create({ id: 'one' }, { by: ann });
    await client.send('one', 'slow 1; say End', { by: ann, until: 'accepted' });
    const running = client.runOnce('one', { untilMs: 5000 });
    await stage.gate.current.reached;
    const again = await client.runOnce('one', { untilMs: 5000 });
    expect([again.type, again.type === 'owned' && again.worker.name]).toStrictEqual(['owned', 'the function']);
    stage.gate.current.open();
    expect((await running).type).toBe('rested');
    expect(stage.ran).toStrictEqual(['slow 1']);
  });

  test('tries a provider again, and answers approvals, whose time has come', async () => {
    const stage = stageOn(makePlace());
    const client = stage.start({ role: 'client', approvals: { expireAfterMs: 1000 } });
    await client.create({ id: 'one' }, { by: ann });
    await client.send('one', 'pay 1; say End', { by: ann, until: 'accepted' });
    const waiting = await client.runOnce('one', { untilMs: 1000 });
    expect(waiting.type === 'rested' && [waiting.session.status, waiting.wakeAt]).toStrictEqual(['waiting', stage.clock.now() + 1000]);
    await stage.clock.advance(1000);
    const ended = await client.runOnce('one', { untilMs: 1000 });
    expect(ended.type === 'rested' && [ended.session.status, ended.session.text]).toStrictEqual(['completed', 'End']);
    expect(stage.ran).toStrictEqual([]);
  });
});
