// Actions on a session that runs.
import { systemClock } from '../../lib/index.ts';
import { holds, same } from '../conformance.ts';
import type { RuntimeCases } from './runtime-stage.ts';
import { ann, bob, getWait, within } from './runtime-stage.ts';

const cancelMs = 1000;

export const runningCases: RuntimeCases = {
  'lets a message join the execution that runs at the next boundary': async ({ runtime, world, create, send, reach, count, isTaken }) => {
    await create('one');
    const first = send('one', 'note 1@g; say One');
    await reach('note 1');
    await send('one', 'say Two', { until: 'accepted', requestId: 'second' });
    const second = send('one', 'say Two', { requestId: 'second' });
    same((await runtime.actions('one')).filter(({ type }) => type === 'send').length, 2, 'messages while it runs');
    await isTaken('one');
    await world.open('g');
    for (const result of await within(Promise.all([first, second]), 'both messages'))
      same([result.execution, result.status, result.text], [1, 'completed', 'Two'], 'result');
    same(await count('model say One'), 0, 'answers without the second message');
  },
  'interrupts a tool within a second if the session is cancelled, and gives the reason': async (stage) => {
    const { runtime, create, send, reach, becomes } = stage;
    await create('one');
    const sent = send('one', 'note 1@never');
    await reach('note 1');
    const before = systemClock.monotonic();
    const cancelled = await within(runtime.cancel('one', 'the caller hung up', { by: bob }), 'cancel()');
    const took = systemClock.monotonic() - before;
    holds(took < cancelMs, `cancel() took ${took} ms`);
    same([cancelled.status, cancelled.stopReason, cancelled.execution], ['stopped', 'user_requested', 1], 'result');
    holds(cancelled.explain().includes('the caller hung up'), `the explanation does not give the reason: ${cancelled.explain()}`);
    same((await within(sent, 'the message')).stopReason, 'user_requested', 'result of the message');
    same((await becomes('one', 'stopped')).stopReason, 'user_requested', 'session');
  },
  'interrupts a model within a second if the session is cancelled': async ({ runtime, create, send, reach }) => {
    await create('one');
    const sent = send('one', 'write one@never two');
    await reach('model write');
    const before = systemClock.monotonic();
    const cancelled = await within(runtime.cancel('one', 'enough', { by: bob }), 'cancel()');
    const took = systemClock.monotonic() - before;
    holds(took < cancelMs, `cancel() took ${took} ms`);
    same([cancelled.status, (await within(sent, 'the message')).status], ['stopped', 'stopped'], 'results');
  },
  'continues with a new execution after it was cancelled': async ({ runtime, run, send, count }) => {
    await run('one', 'pay 1');
    same((await runtime.cancel('one', 'enough', { by: bob })).stopReason, 'user_requested', 'reason');
    const next = await send('one', 'say Again');
    same([next.execution, next.status, next.text, await count('pay 1')], [2, 'completed', 'Again', 0], 'next result');
  },
  'keeps an execution as it is that is cancelled after its end': async ({ runtime, run }) => {
    await run('one', 'say Hello');
    const late = await runtime.cancel('one', 'enough', { by: bob });
    same([late.status, late.text, late.execution], ['completed', 'Hello', 1], 'result');
  },
  'raises a limit while it runs': async ({ runtime, world, create, send, reach, isTaken }) => {
    await create('one', { agent: 'frugal' });
    const sent = send('one', 'look 1; look 2@g; look 3; say End');
    await reach('look 2');
    await runtime.grant('one', { steps: 5 }, { by: bob, until: 'accepted' });
    await isTaken('one');
    await world.open('g');
    const end = await within(sent, 'the message');
    same([end.status, end.text, end.execution], ['completed', 'End', 1], 'result');
  },
  'waits for a grant at a limit, and continues with it': async ({ runtime, run }) => {
    const stopped = await run('one', 'look 1; look 2; look 3; say End', { agent: 'frugal' });
    same([stopped.status, getWait(stopped).type], ['waiting', 'grant'], 'result at the limit');
    const end = await within(runtime.grant('one', { steps: 5 }, { by: bob }), 'grant()');
    same([end.status, end.text, end.execution], ['completed', 'End', 1], 'result after the grant');
  },
  'hands the answer to a client tool to the model': async ({ runtime, run }) => {
    const wait = getWait(await run('one', 'ask 1; say End'));
    same(wait.type, 'client-tool', 'wait');
    const end = await within(runtime.answer('one', wait, { by: ann, value: { colour: 'blue' } }), 'answer()');
    same([end.status, end.text], ['completed', 'End'], 'result');
    holds(JSON.stringify(end.state.messages).includes('blue'), 'the answer is not among the messages');
  },
  'runs many sessions side by side': async ({ world, runtime, start, reach, becomes }) => {
    const ids = Array.from({ length: 10 }, (_, index) => `s${index}`);
    await Promise.all(ids.map((id, index) => start(id, `note ${index}@g; say End ${index}`)));
    for (const index of ids.keys()) await reach(`note ${index}`);
    for (const id of ids) await becomes(id, 'in_progress');
    same((await runtime.list({ status: 'in_progress' })).sessions.length, ids.length, 'sessions that run at once');
    await world.open('g');
    for (const [index, id] of ids.entries()) same((await becomes(id, 'completed')).text, `End ${index}`, `end of ${id}`);
  },
};
