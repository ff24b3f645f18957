import { describe, expect, test } from 'vitest';
import { sessionStoreConformance } from '../../testing/index.ts';
import type { SessionWrite } from '../index.ts';
import { createMemoryPlace, createMemoryStore } from './memory-store.ts';

describe('the store in memory', () => {
  test.each(
    sessionStoreConformance(() => {
      const place = createMemoryPlace();
      return Promise.resolve({ open: () => Promise.resolve(place.open()) });
    }),
  )('$name', ({ run }) => run());

  const write = (epoch: number): SessionWrite => ({
    sessionId: 's',
    epoch,
    after: 0,
    header: { id: 's', agentName: 'a', tags: ['x'], status: 'pending', isOpen: true, createdAt: 1, updatedAt: 1, details: '{}' },
    entries: [{ n: 1, at: 1, isSnapshot: true, body: '1' }],
  });

  test('shares nothing with another store', async () => {
    const [one, other] = [createMemoryStore(), createMemoryStore()];
    await one.log.write(write(await one.claims.claim()));
    expect(await other.log.load('s')).toBeUndefined();
  });

  test('hands out what nobody can change', async () => {
    const store = createMemoryStore();
    await store.log.write(write(await store.claims.claim()));
    const session = await store.log.load('s');
    expect([session?.header, session?.header.tags, session?.entries[0]].every(Object.isFrozen)).toBe(true);
  });
});
