// Approvals, also while no worker runs.
import { holds, same } from '../conformance.ts';
import type { RuntimeCases } from './runtime-stage.ts';
import { ann, bob, getWait, within } from './runtime-stage.ts';

const minute = 60_000;

export const approvalCases: RuntimeCases = {
  'runs a call once after it was approved with the digest that was shown': async ({ runtime, run, count }) => {
    const result = await run('one', 'pay 1; say Paid');
    const wait = getWait(result);
    same([result.status, wait.type, wait.sessionId, await count('pay 1')], ['waiting', 'approval', 'one', 0], 'before the approval');
    same(getWait(await runtime.get('one')), wait, 'wait as it is read');
    const end = await within(runtime.approve('one', { id: wait.id, digest: wait.digest }, { by: bob }), 'approve()');
    same([end.status, end.text, end.execution, await count('pay 1')], ['completed', 'Paid', 1, 1], 'after the approval');
  },
  'runs an approved call with edited arguments': async ({ runtime, run, count }) => {
    const wait = getWait(await run('one', 'pay 1'));
    same((await runtime.approve('one', wait, { by: bob, args: { amount: 7 } })).status, 'completed', 'status');
    same([await count('pay 1'), await count('pay 7')], [0, 1], 'payments');
  },
  'does not run a rejected call, and the model reads the reason': async ({ runtime, run, count }) => {
    const wait = getWait(await run('one', 'pay 1; say Well'));
    const end = await within(runtime.reject('one', wait, { by: bob, reason: 'too dear' }), 'reject()');
    same([end.status, end.text, await count('pay 1')], ['completed', 'Well', 0], 'result');
    holds(JSON.stringify(end.state.messages).includes('too dear'), 'the reason is not among the messages');
  },
  'lets one of two people decide': async ({ runtime, run, count }) => {
    const wait = getWait(await run('one', 'pay 1; say End'));
    const both = [runtime.approve('one', wait, { by: ann }), runtime.reject('one', wait, { by: bob, reason: 'no' })];
    const settled = await within(Promise.allSettled(both), 'both answers');
    const [applied, refused] = ['fulfilled', 'rejected'].map((status) => settled.filter((each) => each.status === status));
    same([applied?.length, refused?.length], [1, 1], 'answers that were applied, and refused');
    const isApproved = settled[0]?.status === 'fulfilled';
    same(await count('pay 1'), isApproved ? 1 : 0, 'payments');
  },
  'waits again for the second of two calls': async ({ runtime, run, count }) => {
    const { waitingFor } = await run('one', 'pay 1 & pay 2; say End');
    same(waitingFor.length, 2, 'waits');
    const half = await within(runtime.approve('one', getWait({ waitingFor }, 'c1-0'), { by: bob }), 'the first approval');
    same([half.status, half.waitingFor.map(({ id }) => id)], ['waiting', ['c1-1']], 'after the first approval');
    const end = await within(runtime.approve('one', getWait(half), { by: bob }), 'the second approval');
    same([end.status, await count('pay 1'), await count('pay 2')], ['completed', 1, 1], 'after the second approval');
  },
  'rejects an approval that nobody gives in time': {
    needs: ['time'],
    options: { approvals: { expireAfterMs: minute } },
    check: async ({ run, advance, becomes, count }) => {
      const wait = getWait(await run('one', 'pay 1; say End'));
      holds(wait.expiresAt !== undefined, 'the wait does not say when it expires');
      await advance(minute - 10_000);
      same(await count('model say End'), 0, 'answers before the time is up');
      await advance(20_000);
      same([(await becomes('one', 'completed')).text, await count('pay 1')], ['End', 0], 'after the time is up');
    },
  },
  'takes an approval after the worker was killed and started again': {
    needs: ['kill'],
    check: async (stage) => {
      const wait = getWait(await stage.run('one', 'pay 1; say Paid'));
      await stage.kill();
      await stage.restart();
      same(getWait(await stage.runtime.get('one')).digest, wait.digest, 'digest after the restart');
      const end = await within(stage.runtime.approve('one', wait, { by: bob }), 'approve()');
      same([end.status, end.text, await stage.count('pay 1')], ['completed', 'Paid', 1], 'result');
    },
  },
  'does not run an approved call again that was cut off': {
    needs: ['kill'],
    check: async (stage) => {
      const wait = getWait(await stage.run('one', 'pay 1@g; say Paid'));
      await stage.runtime.approve('one', wait, { by: bob, until: 'accepted' });
      await stage.reach('pay 1');
      await stage.kill();
      await stage.world.open('g');
      await stage.restart();
      same([(await stage.becomes('one', 'completed')).text, await stage.count('pay 1')], ['Paid', 1], 'end');
    },
  },
  'applies an approval that was given while no worker ran': {
    needs: ['kill', 'client'],
    check: async ({ runtime, run, kill, restart, count }) => {
      const wait = getWait(await run('one', 'pay 1; say Paid'));
      await kill();
      await within(runtime.approve('one', wait, { by: bob, until: 'accepted', requestId: 'r' }), 'accepting the approval');
      const approved = runtime.approve('one', wait, { by: bob, requestId: 'r' });
      await restart();
      const end = await within(approved, 'the approval');
      same([end.status, end.text, await count('pay 1')], ['completed', 'Paid', 1], 'result');
    },
  },
  'applies edited arguments that were given while no worker ran': {
    needs: ['kill', 'client'],
    check: async ({ runtime, run, kill, restart, count, becomes }) => {
      const wait = getWait(await run('one', 'pay 1; say Paid'));
      await kill();
      await within(runtime.approve('one', wait, { by: bob, args: { amount: 7 }, until: 'accepted' }), 'accepting the approval');
      await restart();
      await becomes('one', 'completed');
      same([await count('pay 1'), await count('pay 7')], [0, 1], 'payments');
    },
  },
  'applies a rejection that was given while no worker ran': {
    needs: ['kill', 'client'],
    check: async ({ runtime, run, kill, restart, count, becomes }) => {
      const wait = getWait(await run('one', 'pay 1; say Well'));
      await kill();
      await within(runtime.reject('one', wait, { by: bob, reason: 'too dear', until: 'accepted' }), 'accepting the rejection');
      await restart();
      const { state } = await becomes('one', 'completed');
      holds(JSON.stringify(state.messages).includes('too dear'), 'the reason is not among the messages');
      same(await count('pay 1'), 0, 'payments');
    },
  },
};
