// Work of operators: cancelling many sessions, health, draining.
import { holds, same } from '../conformance.ts';
import type { RuntimeCases } from './runtime-stage.ts';
import { bob, waitFor, waitUntil, within } from './runtime-stage.ts';

export const operationCases: RuntimeCases = {
  'cancels all matching sessions that run or wait, and returns their number': async (stage) => {
    const { runtime, run, start, reach, becomes } = stage;
    await start('runs', 'note 1@never', { owner: 'o' });
    await reach('note 1');
    await run('waits', 'pay 1', { owner: 'o' });
    await run('done', 'say End', { owner: 'o' });
    await run('other', 'pay 2', { owner: 'p' });
    same(await within(runtime.cancelAll({ owner: 'o' }, 'the account was closed', { by: bob }), 'cancelAll()'), 2, 'number');
    for (const id of ['runs', 'waits']) {
      const session = await becomes(id, 'stopped');
      same(session.stopReason, 'user_requested', `reason of ${id}`);
      holds(
        session.explain().includes('the account was closed'),
        `the explanation of ${id} does not give the reason: ${session.explain()}`,
      );
    }
    same([(await runtime.get('done')).status, (await runtime.get('other')).status], ['completed', 'waiting'], 'status of the others');
    same(await within(runtime.cancelAll({ owner: 'o' }, 'again', { by: bob }), 'cancelAll()'), 0, 'number of the second time');
  },
  'reports its health': async ({ runtime, world, start, reach, becomes }) => {
    const idle = await runtime.health();
    same(
      [idle.isStoreReachable, idle.problem, idle.isDraining, idle.waitingActions, idle.holds, idle.oldestOpenStep],
      [true, undefined, false, 0, [], undefined],
      'health',
    );
    same(idle.workers.length, 1, 'number of workers');
    await start('one', 'note 1@g; say End');
    await reach('note 1');
    await start('two', 'note 2@g; say End');
    await reach('note 2');
    const busy = await waitUntil(async () => (await runtime.health()).oldestOpenStep, 'the oldest open step');
    same([busy.sessionId, busy.since > 0], ['one', true], 'oldest open step');
    await world.open('g');
    for (const id of ['one', 'two']) await becomes(id, 'completed');
    same((await runtime.health()).oldestOpenStep, undefined, 'oldest open step at the end');
  },
  'reports that no worker runs': {
    needs: ['drain', 'client'],
    check: async ({ runtime, drain, restart }) => {
      await drain();
      const alone = await runtime.health();
      same([alone.workers, alone.isStoreReachable, alone.role], [[], true, 'client'], 'health');
      await restart();
      same((await runtime.health()).workers.length, 1, 'number of workers after the restart');
    },
  },
  'lets the open step end if the worker is drained, and leaves the rest to the next one': {
    needs: ['drain'],
    check: async (stage) => {
      await stage.start('one', 'note 1@g; note 2; say End');
      await stage.reach('note 1');
      const drained = stage.drain();
      await waitFor();
      await stage.world.open('g');
      await within(drained, 'drain()');
      same([await stage.count('note 1'), await stage.count('note 2')], [1, 0], 'effects when it is drained');
      await stage.restart();
      const session = await stage.becomes('one', 'completed');
      same([session.text, session.stepCount, session.executions], ['End', 3, 1], 'session');
      same([await stage.count('note 1'), await stage.count('note 2')], [1, 1], 'effects');
      same(JSON.stringify(session.state.messages).split('note done').length - 1, 2, 'results of calls that the model has read');
    },
  },
};
