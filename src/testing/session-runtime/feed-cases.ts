// Events of all sessions, read, followed and delivered.
import type { EventDelivery, FeedItem, SessionRuntime } from '../../sessions/index.ts';
import { holds, same } from '../conformance.ts';
import { follow } from './follow.ts';
import type { RuntimeCases } from './runtime-stage.ts';
import { ann, bob, collect, readEvents, waitUntil, within } from './runtime-stage.ts';

const describeItem = ({ sessionId, event }: FeedItem): string => `${sessionId} ${event.seq} ${event.type}`;

const getEvents = (items: readonly FeedItem[], id: string): readonly unknown[] =>
  items.filter(({ sessionId }) => sessionId === id).map(({ event }) => event);

const readFeed = async (runtime: SessionRuntime, options?: Parameters<SessionRuntime['feed']>[0]): Promise<readonly FeedItem[]> =>
  within(collect(runtime.feed(options)), 'reading the feed');

export const feedCases: RuntimeCases = {
  'feeds the events of all sessions, those of each in their order': async ({ runtime, run }) => {
    await Promise.all([run('one', 'look 1; say End', { tenant: 't', owner: 'o' }), run('two', 'note 2; say End')]);
    const items = await readFeed(runtime);
    for (const id of ['one', 'two']) same(getEvents(items, id), await readEvents(runtime, id), `events of session ${id}`);
    const [first] = items.filter(({ sessionId }) => sessionId === 'one');
    same([first?.tenant, first?.owner, first?.agent.id], ['t', 'o', 'desk'], 'facts of an item');
  },
  'feeds what comes after a cursor, without a gap or a double': async ({ runtime, run, send }) => {
    await run('one', 'look 1; say End');
    await run('two', 'say End');
    const items = await readFeed(runtime);
    for (const index of [0, 2, items.length - 1]) {
      const after = items[index]?.cursor ?? '';
      same((await readFeed(runtime, { after })).map(describeItem), items.slice(index + 1).map(describeItem), `feed after item ${index}`);
    }
    await send('one', 'say More');
    const later = await readFeed(runtime, { after: items.at(-1)?.cursor ?? '' });
    holds(later.length > 0 && later.every(({ sessionId }) => sessionId === 'one'), 'what came later is not in the feed');
    same((await readFeed(runtime)).map(describeItem), [...items, ...later].map(describeItem), 'whole feed');
  },
  'feeds one tenant, and events of the types that are asked for': async ({ runtime, run }) => {
    await run('one', 'pay 1', { tenant: 't' });
    await run('two', 'pay 1', { tenant: 'other' });
    const items = await readFeed(runtime, { tenant: 't', types: ['ToolApprovalRequested'] });
    same(
      items.map(({ sessionId, event }) => `${sessionId} ${event.type}`),
      ['one ToolApprovalRequested'],
      'feed',
    );
  },
  'feeds nothing that a fork has copied, and nothing of a deleted session': async ({ runtime, run, send }) => {
    await run('one', 'look 1; say End');
    await run('gone', 'say End');
    await runtime.fork('one', { execution: 1, step: 1 }, { by: bob, id: 'fork' });
    await send('fork', 'say Fork');
    await within(runtime.delete('gone', { by: ann }), 'delete()');
    const items = await readFeed(runtime);
    same(getEvents(items, 'one'), await readEvents(runtime, 'one'), 'events of the source');
    same(getEvents(items, 'gone'), [], 'events of the deleted session');
    const own = items.filter(({ sessionId }) => sessionId === 'fork');
    holds(own.length > 0, 'the fork is not in the feed');
    const copied = new Set((await readEvents(runtime, 'one')).map(({ id }) => id));
    same(own.filter(({ event }) => copied.has(event.id)).map(describeItem), [], 'copied events');
  },
  'follows the feed through a kill without a gap or a double': {
    needs: ['kill', 'client'],
    check: async ({ runtime, world, start, run, reach, kill, restart, becomes }) => {
      const follower = follow((signal) => runtime.feed({ follow: true, signal }));
      await run('one', 'say End');
      await start('two', 'look 1; look 2@g; say End');
      await reach('look 2');
      await kill();
      await world.open('g');
      await restart();
      await becomes('two', 'completed');
      const stored = (await readFeed(runtime)).map(describeItem);
      await follower.reach((seen) => seen.length >= stored.length, 'the last event');
      await follower.leave();
      same(follower.seen.map(describeItem), stored, 'feed that was followed');
    },
  },
  'delivers every event in its order, and again what was not accepted': async ({ runtime, run }) => {
    const seqs: number[] = [];
    const ids = new Map<number, string>();
    let refusals = 0;
    const send = async ({ events, id, attempt }: EventDelivery): Promise<void> => {
      const [first] = events;
      if (first === undefined) return;
      same(ids.get(first.seq) ?? id, id, 'id of a delivery that is sent again');
      ids.set(first.seq, id);
      if (attempt === 1 && refusals < 2) {
        refusals += 1;
        throw new Error('not now');
      }
      seqs.push(...events.map(({ seq }) => seq));
    };
    const delivery = runtime.deliver('suite', send, { firstDelayMs: 1, maxDelayMs: 1 });
    await run('one', 'look 1; look 2; say End');
    const stored = (await readEvents(runtime, 'one')).map(({ seq }) => seq);
    await waitUntil(async () => (seqs.length >= stored.length ? true : undefined), 'the last delivery');
    await within(delivery.stop(), 'stop()');
    same(seqs, stored, 'numbers of the events that were accepted');
    same(refusals, 2, 'refused deliveries');
  },
};
