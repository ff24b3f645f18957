import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../../lib/index.ts';
import { sessionStoreConformance } from '../../testing/index.ts';
import type { SessionWrite } from '../index.ts';
import { stickyMs } from './lease-row.ts';
import { createMemoryPlace, createMemoryStore } from './memory-store.ts';

describe('the store in memory', () => {
  test.each(
    sessionStoreConformance(() => {
      const place = createMemoryPlace();
      return Promise.resolve({ open: () => Promise.resolve(place.open()) });
    }),
  )('$port: $name', ({ run }) => run());

  const write: SessionWrite = {
    ...{ sessionId: 's', lease: { worker: 'w', fence: 0, type: 'free' }, keepsLease: false, after: 0 },
    header: {
      ...{ id: 's', agentName: 'a', agentRelease: '1', format: 1, tags: ['x'], status: 'pending', isOpen: true },
      ...{ createdAt: 1, updatedAt: 1, details: '{}' },
    },
    entries: [{ n: 1, at: 1, isSnapshot: true, body: '1' }],
  };

  test('shares nothing with another store', async () => {
    const [one, other] = [createMemoryStore(), createMemoryStore()];
    await one.log.write(write);
    expect(await other.log.load('s')).toBeUndefined();
  });

  test('hands out what nobody can change', async () => {
    const store = createMemoryStore();
    await store.log.write(write);
    const session = await store.log.load('s');
    expect([session?.header, session?.header.tags, session?.entries[0]].every(Object.isFrozen)).toBe(true);
  });

  test('uses the clock that it is given for leases', async () => {
    const clock = createFakeClock();
    const store = createMemoryPlace({ clock }).open();
    for (const id of ['v', 'x']) await store.leases.join({ id, joinedAt: 1, agents: ['a'] }, { room: 1 });
    await store.log.write({ ...write, lease: { worker: 'v', fence: 0, type: 'free' } });
    const claim = async () =>
      (await store.leases.claim({ worker: 'x', limit: 1, agents: [{ name: 'a' }], maxFormat: 1, now: 0 })).sessions.length;
    await clock.advance(stickyMs - 1);
    expect(await claim()).toBe(0);
    await clock.advance(1);
    expect(await claim()).toBe(1);
    expect((await store.leases.workers()).map(({ silentMs }) => silentMs)).toEqual([stickyMs, stickyMs]);
  });
});
