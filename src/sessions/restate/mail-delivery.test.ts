import { describe, expect, test } from 'vitest';
import type { Mail, SessionStore } from '../index.ts';
import { createMemoryStore } from '../index.ts';
import { applyReports } from './desk-copy.ts';
import { planDelivery } from './mail-delivery.ts';

const post = (store: SessionStore, requestId: string, sessionId = 'a'): Promise<Mail> =>
  store.post({ sessionId, requestId, at: 0, body: '{}' });

describe('the delivery of a mail', () => {
  test('gives a turn the mails of the session that were posted before it, and none after it', async () => {
    const store = createMemoryStore();
    const first = await post(store, '1');
    await post(store, '2', 'other');
    const second = await post(store, '3');
    await post(store, '4');
    expect((await planDelivery(store, second)).turn.mails).toStrictEqual([first, second]);
  });

  test('gives a turn no more than ten mails, and says that there are more', async () => {
    const store = createMemoryStore();
    const mails: Mail[] = [];
    for (let count = 0; count < 12; count += 1) mails.push(await post(store, String(count)));
    const [, , ...last] = mails;
    expect((await planDelivery(store, mails[11] as Mail)).turn).toMatchObject({ mails: last, hasMore: true });
    expect((await planDelivery(store, mails[9] as Mail)).turn.hasMore).toBeUndefined();
  });

  test('names the holds, and the worker that runs the session', async () => {
    const store = createMemoryStore();
    const header = {
      ...{ id: 'a', agentName: 'desk', tags: [], createdAt: 0, updatedAt: 0, details: '{}' },
      ...{ status: 'in_progress' as const, isOpen: true },
    };
    const entries = [{ n: 1, at: 0, isSnapshot: false, body: '{}' }];
    await applyReports(store, [{ sessionId: 'a', changes: [{ type: 'write', after: 0, header, entries }], worker: 'one' }]);
    await store.putHold({ id: 'night', at: 0, body: '{}' });
    expect(await planDelivery(store, await post(store, '1'))).toMatchObject({ turn: { holds: ['night'] }, workers: ['one'] });
  });
});
