// Messages to a session that runs or waits.
import { holds, same } from '../conformance.ts';
import type { RuntimeCases } from './runtime-stage.ts';
import { assertRefused, bob, getWait, waitUntil } from './runtime-stage.ts';

export const messageCases: RuntimeCases = {
  'queues a message behind a run, if asked to': async ({ runtime, world, start, send, reach, isTaken }) => {
    await start('one', 'note 1@g');
    await reach('note 1');
    const sent = send('one', 'say Later', { whileRunning: 'queue' });
    await isTaken('one');
    await world.open('g');
    const { execution, text } = await sent;
    same([execution, text], [2, 'Later'], 'the execution that read it');
    const { state } = await runtime.get('one');
    same(state.session.executions[0]?.results.last?.step.interrupted, undefined, 'interruption of the first execution');
  },
  'interrupts a run for a message, if asked to': async ({ runtime, start, send, reach }) => {
    await start('one', 'note 1@never');
    await reach('note 1');
    const { execution, text } = await send('one', 'say Now', { whileRunning: 'interrupt' });
    same([execution, text], [2, 'Now'], 'the execution that read it');
    const { state } = await runtime.get('one');
    same(state.session.executions[0]?.results.last?.step.interrupted, 'superseded', 'interruption of the first execution');
  },
  'queues a message behind a wait, if asked to, or refuses it': async ({ runtime, run, send, isTaken }) => {
    const { waitingFor } = await run('one', 'pay 1');
    await assertRefused(send('one', 'say No', { whileWaiting: 'refuse' }), 'message-refused', 'a message to a session that waits');
    const sent = send('one', 'say Later', { whileWaiting: 'queue' });
    await isTaken('one');
    await waitUntil(async () => {
      const actions = await runtime.actions('one');
      return actions.some(({ type, entry }) => type === 'send' && entry !== undefined && entry > 2) || undefined;
    }, 'that the message is stored');
    same((await runtime.get('one')).status, 'waiting', 'status');
    await runtime.approve('one', getWait({ waitingFor }), { by: bob });
    const { execution, text } = await sent;
    same([execution, text], [2, 'Later'], 'the execution that read it');
  },
  'refuses a message to a session that waits for a grant': async ({ runtime, run, send }) => {
    await run('one', 'look 1; look 2; look 3', { agent: 'frugal' });
    await assertRefused(send('one', 'say No', { whileWaiting: 'queue' }), 'message-refused', 'a message');
    const { status } = await runtime.grant('one', { steps: 5 }, { by: bob });
    same(status, 'completed', 'status after the grant');
  },
  'lists what waits for somebody': async ({ runtime, run }) => {
    await run('one', 'pay 1', { tenant: 't', owner: 'o' });
    await run('two', 'ask 1', { tenant: 'u' });
    await run('three', 'say Hello', { tenant: 't' });
    const { waits } = await runtime.waits({ tenant: 't' });
    same(
      waits.map(({ sessionId, tenant, owner, wait: { type, toolName } }) => [sessionId, tenant, owner, type, toolName]),
      [['one', 't', 'o', 'approval', 'pay']],
      'waits of a tenant',
    );
    const [first] = waits;
    holds(first !== undefined, 'nothing waits');
    same((await runtime.approve(first.sessionId, first.wait, { by: bob })).status, 'completed', 'status after the approval');
    same(
      (await runtime.waits()).waits.map(({ sessionId }) => sessionId),
      ['two'],
      'sessions that wait then',
    );
  },
};
