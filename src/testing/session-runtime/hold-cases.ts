// Holds: reasons for starting no model calls.
import { holds, same } from '../conformance.ts';
import type { RuntimeCases } from './runtime-stage.ts';
import { bob, waitFor, waitUntil, within } from './runtime-stage.ts';

const hour = 3_600_000;

export const holdCases: RuntimeCases = {
  'starts no model call while a hold lasts, and continues when it is released': async (stage) => {
    const { runtime, create, send, count } = stage;
    await create('one');
    const hold = await within(runtime.hold({}, 'an incident', { by: bob }), 'hold()');
    same([hold.reason, hold.by], ['an incident', bob], 'hold');
    same(await runtime.holds(), [hold], 'holds');
    same((await runtime.health()).holds, [hold], 'holds in health()');
    const sent = send('one', 'say Hello');
    await waitFor();
    same(await count('model say Hello'), 0, 'model calls during the hold');
    same((await runtime.get('one')).status, 'in_progress', 'status during the hold');
    same(await within(runtime.release(hold.id), 'release()'), true, 'release()');
    same((await within(sent, 'the message')).text, 'Hello', 'text');
    same([await runtime.release(hold.id), await runtime.holds()], [false, []], 'holds after the release');
  },
  'lets an open step end, and starts no further one': async ({ runtime, world, create, send, reach, count }) => {
    await create('one');
    const sent = send('one', 'note 1@g; say End');
    await reach('note 1');
    const { id } = await within(runtime.hold({}, 'an incident'), 'hold()');
    await waitFor();
    await world.open('g');
    await waitFor();
    same([await count('note 1'), await count('model say End')], [1, 0], 'effects during the hold');
    await runtime.release(id);
    same((await within(sent, 'the message')).text, 'End', 'text');
  },
  'holds the sessions of a tenant or an agent, and no others': async ({ runtime, create, send, run, count }) => {
    const tenant = await runtime.hold({ tenant: 't' }, 'unpaid');
    const agent = await runtime.hold({ agent: 'frugal' }, 'too expensive');
    same((await run('free', 'say Free', { tenant: 'u' })).text, 'Free', 'text of a session that is not held');
    await create('one', { tenant: 't' });
    await create('two', { agent: 'frugal' });
    const sent = [send('one', 'say One'), send('two', 'say Two')];
    await waitFor();
    same([await count('model say One'), await count('model say Two')], [0, 0], 'model calls during the holds');
    await runtime.release(tenant.id);
    same((await within(sent[0] ?? Promise.reject(new Error('none')), 'the first message')).text, 'One', 'text');
    same(await count('model say Two'), 0, 'model calls of the agent that is still held');
    await runtime.release(agent.id);
    same((await within(sent[1] ?? Promise.reject(new Error('none')), 'the second message')).text, 'Two', 'text');
  },
  'cancels a session that is held at once': async ({ runtime, create, send, count }) => {
    await create('one');
    await runtime.hold({}, 'an incident');
    const sent = send('one', 'say Hello');
    await waitFor();
    const cancelled = await within(runtime.cancel('one', 'enough', { by: bob }), 'cancel()', 1000);
    same([cancelled.stopReason, (await within(sent, 'the message')).stopReason], ['user_requested', 'user_requested'], 'reasons');
    same(await count('model say Hello'), 0, 'model calls');
  },
  'does not count the time of a hold': {
    needs: ['time'],
    check: async ({ runtime, create, send, advance }) => {
      await create('one', { agent: 'hasty' });
      const { id } = await runtime.hold({}, 'an incident');
      const sent = send('one', 'look 1; say End');
      await waitFor();
      await advance(hour);
      await runtime.release(id);
      const end = await within(sent, 'the message');
      same([end.status, end.stopReason, end.text], ['completed', 'completed', 'End'], 'result');
    },
  },
  'does not count the time of a hold that comes between two steps': {
    needs: ['time'],
    check: async ({ runtime, world, create, send, reach, advance }) => {
      await create('one', { agent: 'hasty' });
      const sent = send('one', 'look 1@g; say End');
      await reach('look 1');
      const { id } = await runtime.hold({}, 'an incident');
      await waitFor();
      await world.open('g');
      // Until it is recorded, the step is open, and its time counts.
      await waitUntil(async () => ((await runtime.get('one')).stepCount === 1 ? true : undefined), 'the end of the first step');
      await advance(hour);
      await runtime.release(id);
      const end = await within(sent, 'the message');
      same([end.status, end.stopReason, end.text], ['completed', 'completed', 'End'], 'result');
    },
  },
  'keeps a hold after the worker was killed': {
    needs: ['kill'],
    check: async (stage) => {
      await stage.create('one');
      const { id } = await stage.runtime.hold({}, 'an incident');
      await stage.send('one', 'say Hello', { until: 'accepted' });
      await stage.kill();
      await stage.restart();
      await waitFor();
      same([await stage.count('model say Hello'), (await stage.runtime.holds()).length], [0, 1], 'model calls and holds');
      holds(await stage.runtime.release(id), 'the hold was not there');
      same((await stage.becomes('one', 'completed')).text, 'Hello', 'text');
    },
  },
};
