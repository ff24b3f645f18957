// Actions that wait while no worker runs.
import { holds, same } from '../conformance.ts';
import type { WorldAbility } from './runtime-world.ts';
import type { RuntimeCases } from './runtime-stage.ts';
import { ann, bob, getWait, assertRefused, within } from './runtime-stage.ts';

const needs = ['kill', 'client'] as const satisfies readonly WorldAbility[];

export const mailboxCases: RuntimeCases = {
  'shows an accepted action in get() and actions() while no worker runs': {
    needs,
    check: async ({ runtime, run, create, send, kill, restart, becomes, count }) => {
      await run('one', 'say Hello');
      await create('two');
      await kill();
      for (const id of ['one', 'two']) {
        const accepted = await within(send(id, 'note 1; say Again', { until: 'accepted', requestId: 'r' }), 'accepting the message');
        same([accepted.sessionId, accepted.status], [id, 'in_progress'], 'result');
        same((await runtime.get(id)).status, 'in_progress', `status of ${id}`);
        const last = (await runtime.actions(id)).at(-1);
        same([last?.type, last?.by, last?.requestId], ['send', ann, 'r'], `last action on ${id}`);
      }
      same([(await runtime.health()).waitingActions, await count('note 1')], [2, 0], 'actions that wait, and effects');
      await restart();
      for (const id of ['one', 'two']) same((await becomes(id, 'completed')).text, 'Again', `end of ${id}`);
      same((await runtime.health()).waitingActions, 0, 'actions that wait');
      same(
        (await runtime.actions('one')).map(({ type }) => type),
        ['create', 'send', 'send'],
        'actions',
      );
    },
  },
  'applies waiting actions in their order': {
    needs,
    check: async ({ runtime, run, send, kill, restart }) => {
      await run('one', 'say Hello');
      await kill();
      for (const text of ['say One', 'say Two', 'say Three']) await within(send('one', text, { until: 'accepted' }), 'accepting a message');
      const last = send('one', 'say Four');
      await restart();
      same((await within(last, 'the last message')).text, 'Four', 'last answer');
      const said = (await runtime.get('one')).state.messages.filter((message) => message.isUser()).map(({ text }) => text);
      same(said, ['say Hello', 'say One', 'say Two', 'say Three', 'say Four'], 'messages');
    },
  },
  'applies a waiting action once that was asked for twice': {
    needs,
    check: async ({ runtime, run, send, kill, restart, count }) => {
      await run('one', 'say Hello');
      await kill();
      for (let time = 0; time < 3; time += 1)
        await within(send('one', 'note 1; say End', { until: 'accepted', requestId: 'r' }), 'accepting the message');
      await assertRefused(
        send('one', 'say Other', { until: 'accepted', requestId: 'r' }),
        'request-reused',
        'the same id with other content',
      );
      same((await runtime.health()).waitingActions, 1, 'actions that wait');
      await restart();
      same((await within(send('one', 'note 1; say End', { requestId: 'r' }), 'the message')).text, 'End', 'text');
      same([await count('note 1'), (await runtime.actions('one')).length], [1, 3], 'effects and actions');
    },
  },
  'creates a session that was asked for while no worker ran': {
    needs,
    check: async ({ runtime, kill, restart, send }) => {
      await kill();
      const created = runtime.create({ id: 'one', agent: 'desk', owner: 'o' }, { by: ann });
      created.catch(() => undefined);
      await restart();
      const session = await within(created, 'create()');
      same([session.id, session.owner, session.status], ['one', 'o', 'pending'], 'session');
      same((await within(send('one', 'say Hello'), 'the message')).text, 'Hello', 'text');
    },
  },
  'tells the one who asked that a waiting action was refused': {
    needs,
    check: async ({ runtime, run, kill, restart, count }) => {
      const wait = getWait(await run('one', 'pay 1'));
      await kill();
      const forged = runtime.approve('one', { ...wait, digest: '0'.repeat(64) }, { by: bob });
      const foreign = runtime.reject('one', { id: 'other' }, { by: bob });
      const refusals = Promise.all([
        assertRefused(forged, 'forged-approval', 'a forged approval'),
        assertRefused(foreign, 'not-waiting', 'an answer to nothing'),
      ]);
      refusals.catch(() => undefined);
      await restart();
      await refusals;
      same([(await runtime.get('one')).status, await count('pay 1')], ['waiting', 0], 'status and payments');
    },
  },
  'cancels a session that was to be resumed': {
    needs,
    check: async ({ runtime, start, reach, kill, restart, becomes, count }) => {
      await start('one', 'note 1@never; note 2; say End');
      await reach('note 1');
      await kill();
      await within(runtime.cancel('one', 'enough', { by: bob, until: 'accepted' }), 'accepting the cancel');
      await restart();
      const session = await becomes('one', 'stopped');
      same([session.stopReason, await count('note 2')], ['user_requested', 0], 'end');
      holds(session.explain().includes('enough'), `the explanation does not give the reason: ${session.explain()}`);
    },
  },
  'reads sessions, lists and events while no worker runs': {
    needs,
    check: async ({ runtime, run, kill }) => {
      await run('one', 'say Hello', { owner: 'o' });
      const read = async (): Promise<unknown> => [
        await runtime.get('one'),
        await runtime.list({ owner: 'o' }),
        await runtime.actions('one'),
      ];
      const before = await read();
      await kill();
      same(await within(read(), 'reading'), before, 'what is read');
    },
  },
};
