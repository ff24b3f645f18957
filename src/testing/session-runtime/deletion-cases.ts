// Deleting, erasing and exporting.
import type { ExportedSession, SessionFilter, SessionRuntime } from '../../sessions/index.ts';
import { SessionDeletedError } from '../../sessions/index.ts';
import { holds, same, storable } from '../conformance.ts';
import type { RuntimeCases, RuntimeStage } from './runtime-stage.ts';
import { ann, bob, collect, getWait, waitFor, readAll, readEvents, assertRefused, within } from './runtime-stage.ts';

async function checkDeleted({ runtime, send }: RuntimeStage, id: string): Promise<void> {
  for (const [what, work] of Object.entries({
    'get()': () => runtime.get(id),
    'a late message': () => send(id, 'say Hello'),
    'a late message that nobody waits for': () => send(id, 'say Hello', { until: 'accepted' }),
    'a late cancel': () => runtime.cancel(id, 'enough', { by: bob }),
    'a late approval': () => runtime.approve(id, { id: 'c1-0', digest: '0' }, { by: bob }),
    'a new session with its id': () => runtime.create({ id, agent: 'desk' }, { by: bob }),
  })) {
    const error = await assertRefused(work(), 'session-deleted', `${what} of a deleted session`);
    holds(error instanceof SessionDeletedError, `${what}: the error is not an instance of SessionDeletedError`);
  }
  holds(!(await runtime.list()).sessions.some((session) => session.id === id), 'the deleted session is in the list');
}

const listIds = async (runtime: SessionRuntime): Promise<readonly string[]> =>
  (await runtime.list()).sessions.map(({ id }) => id).toSorted();

const exportAll = (runtime: SessionRuntime, filter: SessionFilter): Promise<readonly ExportedSession[]> => collect(runtime.export(filter));

export const deletionCases: RuntimeCases = {
  'deletes a session for good': async (stage) => {
    await stage.run('one', 'say Hello');
    await stage.run('two', 'say Hello');
    await within(stage.runtime.delete('one', { by: bob }), 'delete()');
    await checkDeleted(stage, 'one');
    same((await stage.send('two', 'say Again')).text, 'Again', 'answer of the other session');
  },
  'deletes a session while it runs, and nothing more of it happens': async (stage) => {
    const { runtime, world, create, send, reach, count } = stage;
    await create('one');
    const sent = assertRefused(send('one', 'note 1@g; note 2; say End'), 'session-deleted', 'the message that was worked on');
    sent.catch(() => undefined);
    await reach('note 1');
    await within(runtime.delete('one', { by: bob }), 'delete()');
    await world.open('g');
    await sent;
    await waitFor();
    same(await count('note 2'), 0, 'calls after the session was deleted');
    await checkDeleted(stage, 'one');
  },
  'deletes a session that waits': async (stage) => {
    const wait = getWait(await stage.run('one', 'pay 1'));
    await within(stage.runtime.delete('one', { by: bob }), 'delete()');
    await assertRefused(stage.runtime.approve('one', wait, { by: bob }), 'session-deleted', 'a late approval');
    same(await stage.count('pay 1'), 0, 'payments');
  },
  'may be asked twice to delete a session': async ({ runtime, run }) => {
    await run('one', 'say Hello');
    for (let time = 0; time < 2; time += 1) await within(runtime.delete('one', { by: bob, requestId: 'r' }), 'delete()');
    same(await listIds(runtime), [], 'sessions');
  },
  'keeps a fork whole after its source is deleted': async (stage) => {
    const { runtime, run, send } = stage;
    await run('one', 'note 1; note 2; say End');
    await runtime.fork('one', { execution: 1, step: 2 }, { by: ann, id: 'two' });
    const before = await readAll(runtime, 'two');
    await within(runtime.delete('one', { by: bob }), 'delete()');
    await checkDeleted(stage, 'one');
    holds((await readAll(runtime, 'two')) === before, 'the fork reads otherwise after its source was deleted');
    same((await send('two', 'look 3; say Other')).text, 'Other', 'answer of the fork');
    same((await runtime.get('two')).forkedFrom?.sessionId, 'one', 'source of the fork');
  },
  'deletes a session with its forks, and the forks of those, if that is asked for': async ({ runtime, run }) => {
    await run('one', 'say End');
    await run('other', 'say End');
    await runtime.fork('one', { execution: 1, step: 1 }, { by: ann, id: 'two' });
    await runtime.fork('two', { execution: 1, step: 1 }, { by: ann, id: 'three' });
    await within(runtime.delete('one', { by: bob, forks: true }), 'delete()');
    same(await listIds(runtime), ['other'], 'sessions');
    for (const id of ['one', 'two', 'three']) await assertRefused(runtime.get(id), 'session-deleted', `reading ${id}`);
  },
  'deletes all sessions of an owner, and returns their number': async ({ runtime, run, start, reach }) => {
    await run('one', 'say End', { owner: 'o' });
    await run('two', 'pay 1', { owner: 'o' });
    await start('three', 'note 1@never', { owner: 'o' });
    await reach('note 1');
    await run('other', 'say End', { owner: 'p' });
    same(await within(runtime.deleteAll({ owner: 'o' }, { by: bob }), 'deleteAll()'), 3, 'number');
    same(await listIds(runtime), ['other'], 'sessions');
    same(await within(runtime.deleteAll({ owner: 'o' }, { by: bob }), 'deleteAll()'), 0, 'number of the second time');
  },
  'deletes all sessions that are old enough': {
    needs: ['time'],
    check: async ({ runtime, run, advance }) => {
      await run('old', 'say End');
      await advance(60_000);
      await run('new', 'say End');
      const { updatedAt } = await runtime.get('new');
      same(await within(runtime.deleteAll({ updatedBefore: updatedAt - 1000 }, { by: bob }), 'deleteAll()'), 1, 'number');
      same(await listIds(runtime), ['new'], 'sessions');
    },
  },
  'removes the content of a message from everything that is stored': async ({ runtime, run, send }) => {
    const [secret, order] = ['my-number-is-4711', 'note 1; say Fine'];
    // The third step is never taken, so that nothing repeats what it says.
    await run('one', `${order}; say ${secret}`, { owner: 'o' });
    await send('one', 'say More');
    const read = async (): Promise<string> => `${await readAll(runtime, 'one')}${JSON.stringify(await exportAll(runtime, { owner: 'o' }))}`;
    holds((await read()).includes(secret), 'the message is not stored');
    const message = (await runtime.get('one')).state.messages.find(({ text }) => text.includes(secret));
    const seqs = (await readEvents(runtime, 'one')).map(({ seq }) => seq);
    await within(runtime.eraseMessage('one', message?.id ?? '', { by: bob }), 'eraseMessage()');
    holds(!(await read()).includes(secret), 'the content of the message can still be read');
    same((await readEvents(runtime, 'one')).map(({ seq }) => seq).slice(0, seqs.length), seqs, 'numbers of the events');
    same((await send('one', 'say Still here')).text, 'Still here', 'answer after the message was erased');
    holds(!(await read()).includes(secret), 'the content of the message came back with the next execution');
  },
  'exports everything of matching sessions as plain data': async ({ runtime, run }) => {
    await run('one', 'note 1; say End', { owner: 'o', tags: ['a'] });
    await run('two', 'pay 2', { owner: 'o' });
    await run('other', 'say End', { owner: 'p' });
    const exported = await exportAll(runtime, { owner: 'o' });
    same(exported.map(({ session }) => session.id).toSorted(), ['one', 'two'], 'sessions');
    for (const each of exported) {
      storable(each, `the export of ${each.session.id}`);
      holds(each.events !== undefined, `the export of ${each.session.id} has no events`);
      same(each.actions, await runtime.actions(each.session.id), 'actions');
      same(
        each.events.map(({ seq, type }) => [seq, type]),
        (await readEvents(runtime, each.session.id)).map(({ seq, type }) => [seq, type]),
        'events',
      );
      holds(JSON.stringify(each.state).includes(each.session.id === 'one' ? 'note' : 'pay'), 'the state does not hold the messages');
    }
    same(await exportAll(runtime, { tag: 'nothing' }), [], 'sessions that do not match');
  },
};
