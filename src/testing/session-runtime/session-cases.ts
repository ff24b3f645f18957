// Creating, sending, reading and forking.
import { holds, same } from '../conformance.ts';
import type { RunState } from '../../step-by-step/index.ts';
import { ann, bob, getWait, readAll, within } from './runtime-stage.ts';
import type { RuntimeCases } from './runtime-stage.ts';

const listUserTexts = (state: RunState): readonly string[] => state.messages.filter((message) => message.isUser()).map(({ text }) => text);

export const sessionCases: RuntimeCases = {
  'creates a session in which nothing was said yet': async ({ runtime }) => {
    const wishes = { id: 'one', agent: 'desk', tenant: 't', owner: 'o', tags: ['a', 'b'] };
    const session = await runtime.create(wishes, { by: ann });
    const { id, agent, tenant, owner, tags, status, stepCount, executions, waitingFor, text } = session;
    same({ id, agent: agent.id, tenant, owner, tags }, wishes, 'facts');
    same([status, stepCount, executions, waitingFor, text], ['pending', 0, 1, [], ''], 'session');
    same(await runtime.get('one'), session, 'session as it is read');
  },
  'gives each session an id of its own if none is asked for': async ({ runtime }) => {
    const [one, other] = [await runtime.create({ agent: 'desk' }, { by: ann }), await runtime.create({ agent: 'desk' }, { by: ann })];
    holds(one.id !== '' && one.id !== other.id, `the ids are ${one.id} and ${other.id}`);
  },
  'settles a message with the execution that read it': async ({ runtime, create, send }) => {
    await create('one');
    const first = await send('one', 'look 1; say Hello');
    same([first.sessionId, first.status, first.text, first.execution], ['one', 'completed', 'Hello', 1], 'first result');
    const second = await send('one', 'say Again');
    same([second.status, second.text, second.execution, second.isRepeated], ['completed', 'Again', 2, undefined], 'second result');
    const session = await runtime.get('one');
    same([session.status, session.text, session.executions, session.stepCount], ['completed', 'Again', 2, 3], 'session');
    same([session.usage.total, session.stopReason, session.lastSeq > 0], [45, 'completed', true], 'usage, reason and events');
    same(listUserTexts(session.state), ['look 1; say Hello', 'say Again'], 'what was said');
  },
  'stores a message that nobody waits for': async ({ runtime, start, becomes }) => {
    await start('one', 'say Hello');
    same((await becomes('one', 'completed')).text, 'Hello', 'text');
    same((await runtime.get('one')).executions, 1, 'executions');
  },
  'hides the state of sessions and results from JSON, and explains both': async ({ runtime, run }) => {
    const result = await run('one', 'say Hello');
    const session = await runtime.get('one');
    for (const view of [result, session]) {
      holds(!('state' in (JSON.parse(JSON.stringify(view)) as object)), 'the state is written as JSON');
      holds(view.state.messages.length === 2, 'the state is not that of the session');
      holds(view.explain() !== '', 'there is no explanation');
    }
  },
  'lists actions in their order, with author and time': async ({ runtime, run, send }) => {
    const { waitingFor } = await run('one', 'pay 1');
    await runtime.reject('one', getWait({ waitingFor }), { by: bob, reason: 'too dear' });
    await send('one', 'say Bye', { requestId: 'bye' });
    await runtime.cancel('one', 'enough', { by: bob });
    const actions = await runtime.actions('one');
    same(
      actions.map(({ type, by }) => [type, by.id]),
      [
        ['create', 'ann'],
        ['send', 'ann'],
        ['reject', 'bob'],
        ['send', 'ann'],
        ['cancel', 'bob'],
      ],
      'actions',
    );
    same(actions[3]?.requestId, 'bye', 'request id');
    holds(
      actions.every(({ at }, index) => at > 0 && at >= (actions[index - 1]?.at ?? 0)),
      'the times of the actions do not go forward',
    );
    holds(
      actions.every(({ entry = 0 }, index) => entry > (actions[index - 1]?.entry ?? 0)),
      'the entries of the actions do not go forward',
    );
  },
  'resumes a session that waits for a provider at once': {
    options: { onOutage: 'park' },
    check: async ({ runtime, world, run }) => {
      const parked = await run('one', 'down@up');
      same([parked.status, getWait(parked).type], ['waiting', 'provider'], 'result');
      await world.open('up');
      const end = await within(runtime.resume('one', { by: bob }), 'resume()');
      same([end.status, end.text, end.execution], ['completed', 'Up again.', 1], 'result of resume()');
    },
  },
  'resumes nothing in a session that has ended': async ({ runtime, run, count }) => {
    await run('one', 'note 1; say End');
    const end = await within(runtime.resume('one', { by: bob }), 'resume()');
    same([end.status, end.text, end.execution, await count('note 1')], ['completed', 'End', 1, 1], 'result');
  },
  'forks a session after a step, and leaves the source as it is': async ({ runtime, run, send, count }) => {
    await run('one', 'note 1; note 2; say End', { tenant: 't', owner: 'o', tags: ['a'] });
    const before = await readAll(runtime, 'one');
    const fork = await runtime.fork('one', { execution: 1, step: 1 }, { by: bob, id: 'two', owner: 'p' });
    const { id, tenant, owner, tags, forkedFrom, stepCount } = fork;
    same([id, tenant, owner, tags, stepCount], ['two', 't', 'p', ['a'], 1], 'fork');
    same(forkedFrom, { sessionId: 'one', execution: 1, step: 1 }, 'source of the fork');
    const end = await send('two', 'note 3; say Other end');
    same([end.status, end.text], ['completed', 'Other end'], 'result of the fork');
    same([await count('note 1'), await count('note 2'), await count('note 3')], [1, 1, 1], 'effects');
    holds((await readAll(runtime, 'one')) === before, 'the source has changed');
  },
  'forks a session before the message of an execution, and continues with another one': async ({ runtime, run, send, count }) => {
    await run('one', 'note 1; say First');
    await send('one', 'note 2; say Second');
    const before = await readAll(runtime, 'one');
    const fork = await runtime.fork('one', { execution: 2, step: 0 }, { by: bob, id: 'two' });
    const { status, text, executions, stepCount, forkedFrom } = fork;
    same([status, text, executions, stepCount], ['completed', 'First', 1, 2], 'fork');
    same(forkedFrom, { sessionId: 'one', execution: 2, step: 0 }, 'source of the fork');
    same(listUserTexts(fork.state), ['note 1; say First'], 'what was said before');
    const end = await send('two', 'note 3; say Otherwise');
    same([end.status, end.text, end.execution], ['completed', 'Otherwise', 2], 'result of the fork');
    same([await count('note 1'), await count('note 2'), await count('note 3')], [1, 1, 1], 'effects');
    holds((await readAll(runtime, 'one')) === before, 'the source has changed');
  },
  'forks a session before its first message into an empty one': async ({ runtime, run, send }) => {
    await run('one', 'say First', { tenant: 't', owner: 'o', tags: ['a'] });
    const fork = await runtime.fork('one', { execution: 1, step: 0 }, { by: bob, id: 'two' });
    const { tenant, owner, tags, status, text, executions, stepCount, waitingFor } = fork;
    same([tenant, owner, tags], ['t', 'o', ['a']], 'facts of the fork');
    same([status, text, executions, stepCount, waitingFor], ['pending', '', 1, 0, []], 'fork');
    same(fork.state.messages.length, 0, 'number of messages');
    const end = await send('two', 'say Otherwise');
    same([end.text, end.execution], ['Otherwise', 1], 'result of the fork');
    same(listUserTexts((await runtime.get('two')).state), ['say Otherwise'], 'what was said');
  },
  'forks a session before a message that gave up an approval, which can then be answered in the fork': async (stage) => {
    const { runtime, run, send, count } = stage;
    await run('one', 'pay 1; say Paid');
    await send('one', 'say Never mind');
    const fork = await runtime.fork('one', { execution: 2, step: 0 }, { by: bob, id: 'two' });
    same([fork.status, fork.executions], ['waiting', 1], 'fork');
    const end = await within(runtime.approve('two', getWait(fork), { by: bob }), 'approve()');
    same([end.text, end.execution, await count('pay 1')], ['Paid', 1, 1], 'result of the fork');
    same((await runtime.get('one')).text, 'Never mind', 'text of the source');
  },
  'forks a session before a message whose call was approved since': async ({ runtime, run, count }) => {
    const waiting = await run('one', 'pay 1; say Paid');
    await within(runtime.approve('one', getWait(waiting), { by: bob }), 'approve()');
    const fork = await runtime.fork('one', { execution: 1, step: 0 }, { by: bob, id: 'two' });
    same([fork.status, fork.state.messages.length, await count('pay 1')], ['pending', 0, 1], 'fork');
  },
};
