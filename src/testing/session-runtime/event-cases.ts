// Events that are read and followed.
import type { SessionRuntime, StoredEvent } from '../../sessions/index.ts';
import { holds, same } from '../conformance.ts';
import type { Follower } from './follow.ts';
import { follow } from './follow.ts';
import type { RuntimeCases } from './runtime-stage.ts';
import { ann, bob, collect, getWait, readEvents, assertRefused, within } from './runtime-stage.ts';

/** Reads the events of a session as they are stored. */
const followEvents = (runtime: SessionRuntime, id: string, fromSeq = 0): Follower<StoredEvent> =>
  follow((signal) => runtime.events(id, { fromSeq, follow: true, signal }));

const hasRead =
  (type: string) =>
  (events: readonly StoredEvent[]): boolean =>
    events.some((event) => event.type === type);

/** Waits until a follower has read everything, and compares. */
async function checkFollowed(follower: Follower<StoredEvent>, stored: readonly StoredEvent[]): Promise<void> {
  await follower.reach((seen) => seen.length >= stored.length, 'the last event');
  await follower.leave();
  same(follower.seen, stored, 'events that were followed');
}

function checkDense(events: readonly StoredEvent[], what: string): void {
  same(
    events.map(({ seq }) => seq),
    events.map((_, index) => index + 1),
    `numbers of ${what}`,
  );
}

const types = (events: readonly StoredEvent[]): readonly string[] => events.map(({ type }) => type);

const ofPeople = /^(?:UserMessageReceived|WaitResolved|LimitsGranted|CancelRequested)$/;

/** Describes the events of what people did by their type, author and decision. */
const describePeople = (events: readonly StoredEvent[]): readonly string[] =>
  events
    .filter(({ type }) => ofPeople.test(type))
    .map((event) => {
      const author = 'by' in event ? event.by.id : 'nobody';
      return 'decision' in event ? `${event.type} by ${author}: ${event.decision}` : `${event.type} by ${author}`;
    });

export const eventCases: RuntimeCases = {
  'numbers the events of a session from 1 without a gap': async ({ runtime, run, send }) => {
    await run('one', 'look 1 & note 2; say End');
    await send('one', 'say Again');
    const events = await readEvents(runtime, 'one');
    checkDense(events, 'the events');
    same(events.at(-1)?.seq, (await runtime.get('one')).lastSeq, 'last number');
    holds(types(events).includes('AgentFinished'), `the events are ${types(events).join(', ')}`);
    same(await readEvents(runtime, 'one'), events, 'events that are read again');
  },
  'reads events after a number': async ({ runtime, run }) => {
    await run('one', 'look 1; say End');
    const events = await readEvents(runtime, 'one');
    for (const fromSeq of [1, 3, events.length, events.length + 5])
      same(await collect(runtime.events('one', { fromSeq })), events.slice(fromSeq), `events after ${fromSeq}`);
  },
  'follows events from the start while the session runs': async ({ runtime, world, create, send, reach }) => {
    await create('one');
    const follower = followEvents(runtime, 'one');
    const sent = send('one', 'look 1; note 2@g; say End');
    await reach('note 2');
    await follower.reach(hasRead('ContinuationEvaluated'), 'the events of the first step');
    await world.open('g');
    await within(sent, 'the message');
    await follower.reach(hasRead('AgentFinished'), 'the end');
    await checkFollowed(follower, await readEvents(runtime, 'one'));
    checkDense(follower.seen, 'the events that were followed');
  },
  'serves several followers, and goes on with the others if one leaves': async ({ runtime, world, create, send, reach }) => {
    await create('one');
    const [early, one, other] = [followEvents(runtime, 'one'), followEvents(runtime, 'one'), followEvents(runtime, 'one')];
    const sent = send('one', 'look 1; note 2@g; say End');
    await reach('note 2');
    await early.reach(hasRead('ContinuationEvaluated'), 'the events of the first step');
    await early.leave();
    const [seen, late] = [early.seen.length, followEvents(runtime, 'one', 2)];
    await world.open('g');
    await within(sent, 'the message');
    const stored = await readEvents(runtime, 'one');
    for (const follower of [one, other]) await checkFollowed(follower, stored);
    await checkFollowed(late, stored.slice(2));
    same(early.seen.length, seen, 'events of the one that left');
  },
  'ends a follower that breaks off its loop': async ({ runtime, run }) => {
    await run('one', 'say Hello');
    const readOne = async (): Promise<number> => {
      for await (const { seq } of runtime.events('one', { follow: true })) return seq;
      return 0;
    };
    same(await within(readOne(), 'a follower that leaves'), 1, 'first number');
    const iterator = runtime.events('one', { follow: true, fromSeq: 1000 })[Symbol.asyncIterator]();
    const next = iterator.next();
    await iterator.return?.();
    same((await within(next, 'a follower that leaves while it waits')).done, true, 'done');
  },
  'shows with an event the digest that approves its call': async ({ runtime, run }) => {
    const wait = getWait(await run('one', 'pay 1'));
    const asked = (await readEvents(runtime, 'one')).find((event) => event.type === 'ToolApprovalRequested');
    same(asked?.digest, wait.digest, 'digest of the event');
  },
  'replaces secrets in events if that is asked for, and keeps what is stored': async ({ runtime, run }) => {
    // The event that asks for an approval holds the arguments of its call, such as the name of a gate.
    const secret = 'sk-abcdefghijklmnopqrstuvwxyz012345';
    await run('one', `pay 1@${secret}`);
    const [plain, redacted] = [await readEvents(runtime, 'one'), await collect(runtime.events('one', { redact: true }))];
    holds(JSON.stringify(plain).includes(secret), 'what is stored does not hold the arguments');
    holds(!JSON.stringify(redacted).includes(secret), 'the secret can be read');
    same(types(redacted), types(plain), 'types');
  },
  'ends a follower whose session is deleted, and refuses new ones': async ({ runtime, run }) => {
    await run('one', 'say Hello');
    const reading = collect(runtime.events('one', { follow: true, fromSeq: 1000 })).catch((error: unknown) => error);
    await within(runtime.delete('one', { by: ann }), 'delete()');
    await within(reading, 'the end of a follower');
    await assertRefused(readEvents(runtime, 'one'), 'session-deleted', 'the events of a deleted session');
  },
  'stores what people do as events': async ({ runtime, run, send, create }) => {
    const wait = getWait(await run('one', 'pay 1; say End'));
    await runtime.approve('one', wait, { by: bob });
    await runtime.reject('one', getWait(await send('one', 'pay 2')), { by: bob, reason: 'no' });
    await send('one', 'pay 3');
    await runtime.cancel('one', 'enough', { by: bob });
    await create('two', { agent: 'frugal' });
    await send('two', 'look 1; look 2; look 3');
    await runtime.grant('two', { steps: 5 }, { by: bob });
    const [one, two] = [await readEvents(runtime, 'one'), await readEvents(runtime, 'two')];
    same(
      describePeople(one).toSorted(),
      [
        'CancelRequested by bob',
        ...Array<string>(3).fill('UserMessageReceived by ann'),
        'WaitResolved by bob: approved',
        'WaitResolved by bob: cancelled',
        'WaitResolved by bob: rejected',
      ],
      'events of people',
    );
    const granted = ['LimitsGranted by bob', 'UserMessageReceived by ann', 'WaitResolved by bob: granted'];
    same(describePeople(two).toSorted(), granted, 'events of people, with a grant');
    checkDense(one, 'the events of one');
    checkDense(two, 'the events of two');
  },
  'follows events through a kill without a gap or a double': {
    needs: ['kill', 'client'],
    check: async ({ runtime, world, create, send, reach, kill, restart, becomes }) => {
      await create('one');
      const follower = followEvents(runtime, 'one');
      await send('one', 'look 1; look 2@g; say End', { until: 'accepted' });
      await reach('look 2');
      await kill();
      await world.open('g');
      await restart();
      await becomes('one', 'completed');
      await checkFollowed(follower, await readEvents(runtime, 'one'));
      checkDense(follower.seen, 'the events that were followed');
    },
  },
};
