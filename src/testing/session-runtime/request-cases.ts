// Requests that are made more than once.
import type { ActionOptions, Session, SessionResult, SessionRuntime } from '../../sessions/index.ts';
import { RequestReusedError } from '../../sessions/index.ts';
import { holds, same } from '../conformance.ts';
import type { RuntimeCases, RuntimeStage } from './runtime-stage.ts';
import { ann, bob, getWait, assertRefused, within } from './runtime-stage.ts';

type ActionCall = (runtime: SessionRuntime, options: ActionOptions) => Promise<SessionResult>;

/** An action, with the message that the session must have received before, and the same action with other content. */
interface Repeatable {
  readonly before?: string;
  readonly agent?: string;
  readonly act: ActionCall;
  readonly other: ActionCall;
}

const findApproval = async (runtime: SessionRuntime): Promise<Session['waitingFor'][number]> => {
  const events = [];
  for await (const event of runtime.events('one')) events.push(event);
  const asked = events.find((event) => event.type === 'ToolApprovalRequested');
  const [wait] = (await runtime.get('one')).waitingFor;
  // Holds: only the id, the session and the digest of it are used.
  return wait ?? ({ id: asked?.toolCallId, sessionId: 'one', digest: asked?.digest } as Session['waitingFor'][number]);
};

const repeatable: Readonly<Record<string, Repeatable>> = {
  send: {
    act: (runtime, options) => runtime.send('one', 'note 1; say End', options),
    other: (runtime, options) => runtime.send('one', 'note 1; say Other', options),
  },
  approve: {
    before: 'pay 1; say End',
    act: async (runtime, options) => runtime.approve('one', await findApproval(runtime), options),
    other: async (runtime, options) => runtime.approve('one', await findApproval(runtime), { ...options, args: { amount: 2 } }),
  },
  reject: {
    before: 'pay 1; say End',
    act: async (runtime, options) => runtime.reject('one', await findApproval(runtime), { ...options, reason: 'no' }),
    other: async (runtime, options) => runtime.reject('one', await findApproval(runtime), { ...options, reason: 'never' }),
  },
  answer: {
    before: 'ask 1; say End',
    act: (runtime, options) => runtime.answer('one', { id: 'c1-0' }, { ...options, value: 'blue' }),
    other: (runtime, options) => runtime.answer('one', { id: 'c1-0' }, { ...options, value: 'red' }),
  },
  grant: {
    agent: 'frugal',
    before: 'look 1; look 2; look 3; say End',
    act: (runtime, options) => runtime.grant('one', { steps: 5 }, options),
    other: (runtime, options) => runtime.grant('one', { steps: 6 }, options),
  },
  cancel: {
    before: 'pay 1',
    act: (runtime, options) => runtime.cancel('one', 'enough', options),
    other: (runtime, options) => runtime.cancel('one', 'too much', options),
  },
  resume: {
    before: 'say End',
    act: (runtime, options) => runtime.resume('one', options),
    other: (runtime, options) => runtime.cancel('one', 'enough', options),
  },
};

/** The parts of a result that a repeated request returns again. */
const facts = ({ sessionId, execution, status, text, stopReason, usage }: SessionResult): unknown => ({
  sessionId,
  execution,
  status,
  text,
  stopReason,
  usage,
});

async function checkRepeated(stage: RuntimeStage, { before, agent = 'desk', act, other }: Repeatable): Promise<void> {
  const { runtime } = stage;
  await stage.create('one', { agent });
  if (before !== undefined) await stage.send('one', before);
  const options = { by: ann, requestId: 'r' };
  const first = await within(act(runtime, options), 'the request');
  same(first.isRepeated, undefined, 'isRepeated of the first one');
  const [actions, records] = [await runtime.actions('one'), await stage.world.records()];
  const second = await within(act(runtime, options), 'the repeated request');
  same(second.isRepeated, true, 'isRepeated of the second one');
  same(facts(second), facts(first), 'result of the second one');
  await assertRefused(other(runtime, options), 'request-reused', 'the same request id with other content').then((error) =>
    holds(error instanceof RequestReusedError, 'the error is not an instance of RequestReusedError'),
  );
  same(await runtime.actions('one'), actions, 'actions after the repeated requests');
  same(await stage.world.records(), records, 'effects after the repeated requests');
}

const repeatedCases = Object.fromEntries(
  Object.entries(repeatable).map(([name, each]) => [
    `returns the result of the first one if the same ${name} request is repeated, and refuses its id for anything else`,
    (stage: RuntimeStage) => checkRepeated(stage, each),
  ]),
);

const twenty = Array.from({ length: 20 }, (_, index) => index);

export const requestCases: RuntimeCases = {
  ...repeatedCases,
  'creates one session if the same request is repeated': async ({ runtime }) => {
    const create = (tenant: string): Promise<Session> => runtime.create({ agent: 'desk', tenant }, { by: ann, requestId: 'r' });
    const sessions = await Promise.all(twenty.map(() => create('t')));
    same(new Set(sessions.map(({ id }) => id)).size, 1, 'sessions that were created');
    same((await create('t')).id, sessions[0]?.id, 'session of a later repetition');
    await assertRefused(create('u'), 'request-reused', 'the same request for another session');
    same((await runtime.list()).sessions.length, 1, 'sessions in the list');
  },
  'creates one fork if the same request is repeated': async ({ runtime, run }) => {
    await run('one', 'say Hello');
    const fork = (): Promise<Session> => runtime.fork('one', { execution: 1, step: 1 }, { by: ann, requestId: 'r' });
    same((await fork()).id, (await fork()).id, 'forks');
    same((await runtime.list()).sessions.length, 2, 'sessions in the list');
  },
  'applies a message once that is sent 20 times at once': async ({ runtime, create, send, count }) => {
    await create('one');
    const results = await within(Promise.all(twenty.map(() => send('one', 'note 1; say End', { requestId: 'r' }))), 'all of them');
    for (const result of results) same([result.execution, result.status, result.text], [1, 'completed', 'End'], 'result');
    same(await count('note 1'), 1, 'effects');
    same((await runtime.actions('one')).filter(({ type }) => type === 'send').length, 1, 'messages');
  },
  'applies an approval once that is given 20 times at once': async ({ runtime, run, count }) => {
    const wait = getWait(await run('one', 'pay 1; say End'));
    const approve = (): Promise<SessionResult> => runtime.approve('one', wait, { by: bob, requestId: 'r' });
    const results = await within(Promise.all(twenty.map(approve)), 'all of them');
    for (const result of results) same([result.execution, result.status, result.text], [1, 'completed', 'End'], 'result');
    same(await count('pay 1'), 1, 'payments');
  },
  'keeps 20 different messages that are sent at once': async ({ runtime, create, send }) => {
    await create('one');
    await within(Promise.all(twenty.map((n) => send('one', `say ${n}`))), 'all of them');
    const said = (await runtime.get('one')).state.messages.filter((message) => message.isUser()).map(({ text }) => text);
    same(said.toSorted(), twenty.map((n) => `say ${n}`).toSorted(), 'messages');
  },
  'returns the result of a request that is repeated after the worker was killed': {
    needs: ['kill'],
    check: async (stage) => {
      await stage.create('one');
      await stage.send('one', 'note 1@g; say End', { requestId: 'r', until: 'accepted' });
      await stage.reach('note 1');
      await stage.kill();
      await stage.world.open('g');
      await stage.restart();
      const end = await within(stage.send('one', 'note 1@g; say End', { requestId: 'r' }), 'the repeated request');
      same([end.isRepeated, end.status, end.text, end.execution], [true, 'completed', 'End', 1], 'result');
      same(await stage.count('note 1'), 1, 'effects');
    },
  },
};
