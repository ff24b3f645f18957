// Every way in which an action is refused: an error of its own class, and a session that has not changed.
import { InvalidArgumentError } from '../../lib/index.ts';
import {
  AgentChangedError,
  CrashLoopError,
  ForeignApprovalError,
  ForgedApprovalError,
  LateAnswerError,
  RuntimeClosedError,
  SessionConflictError,
  StaleApprovalError,
  UnknownAgentError,
  UnknownSessionError,
  UnknownStepError,
} from '../../sessions/index.ts';
import type { SessionRuntime } from '../../sessions/index.ts';
import { AlreadyAnsweredError, NotWaitingError } from '../../step-by-step/index.ts';
import { ConformanceError } from '../conformance-error.ts';
import { holds, same } from '../conformance.ts';
import type { RuntimeCases, RuntimeStage } from './runtime-stage.ts';
import { ann, bob, collect, getWait, readAll, assertRefused, within } from './runtime-stage.ts';

type ErrorClass = abstract new (...args: never[]) => Error;

interface Refusal {
  readonly code: string;
  readonly as: ErrorClass;
  readonly work: () => Promise<unknown>;
}

async function assertRefusedAs({ runtime }: RuntimeStage, id: string, { code, as, work }: Refusal): Promise<void> {
  const before = await readAll(runtime, id);
  const error = await assertRefused(work(), code, `an action that is due to be refused with ${code}`);
  holds(error instanceof as, `the error with the code ${code} is not an instance of ${as.name}`);
  holds((await readAll(runtime, id)) === before, `the session has changed by an action that was refused with ${code}`);
}

/** Every way to use a session, as one that does not exist. */
const uses = (runtime: SessionRuntime, id: string): Readonly<Record<string, () => Promise<unknown>>> => ({
  get: () => runtime.get(id),
  send: () => runtime.send(id, 'Hello', { by: ann }),
  resume: () => runtime.resume(id, { by: ann }),
  cancel: () => runtime.cancel(id, 'enough', { by: ann }),
  approve: () => runtime.approve(id, { id: 'c1-0', digest: '0' }, { by: ann }),
  reject: () => runtime.reject(id, { id: 'c1-0' }, { by: ann }),
  answer: () => runtime.answer(id, { id: 'c1-0' }, { by: ann, value: 1 }),
  grant: () => runtime.grant(id, { steps: 1 }, { by: ann }),
  fork: () => runtime.fork(id, { execution: 1, step: 1 }, { by: ann }),
  actions: () => runtime.actions(id),
  events: () => collect(runtime.events(id)),
  'events, followed': () => collect(runtime.events(id, { follow: true })),
  openStep: () => collect(runtime.openStep(id)),
  eraseMessage: () => runtime.eraseMessage(id, 'm1', { by: ann }),
});

export const errorCases: RuntimeCases = {
  'refuses every use of a session that does not exist with unknown-session': async ({ runtime }) => {
    for (const [what, use] of Object.entries(uses(runtime, 'nowhere'))) {
      const error = await assertRefused(Promise.resolve().then(use), 'unknown-session', `${what} of an unknown session`);
      holds(error instanceof UnknownSessionError, `${what}: the error is not an instance of UnknownSessionError`);
    }
  },
  'refuses a second session with the same id with session-conflict': async (stage) => {
    await stage.run('one', 'say Hello');
    const work = (): Promise<unknown> => stage.runtime.create({ id: 'one', agent: 'desk' }, { by: bob });
    await assertRefusedAs(stage, 'one', { code: 'session-conflict', as: SessionConflictError, work });
  },
  'refuses an agent that it does not have with unknown-agent': async ({ runtime }) => {
    const error = await assertRefused(
      runtime.create({ id: 'one', agent: 'nobody' }, { by: ann }),
      'unknown-agent',
      'a session of "nobody"',
    );
    holds(error instanceof UnknownAgentError, 'the error is not an instance of UnknownAgentError');
    await assertRefused(runtime.get('one'), 'unknown-session', 'the session that was not created');
  },
  'refuses an answer to nothing that was ever waited for with not-waiting': async (stage) => {
    await stage.run('one', 'pay 1');
    for (const work of [
      () => stage.runtime.reject('one', { id: 'other' }, { by: bob }),
      () => stage.runtime.answer('one', { id: 'other' }, { by: bob, value: 1 }),
      () => stage.runtime.approve('one', { id: 'other', digest: '0' }, { by: bob }),
    ])
      await assertRefusedAs(stage, 'one', { code: 'not-waiting', as: NotWaitingError, work });
  },
  'refuses an answer to something that is over with late-answer': async (stage) => {
    const { runtime, run, count } = stage;
    const wait = getWait(await run('one', 'pay 1'));
    await runtime.approve('one', wait, { by: bob });
    const approve = (): Promise<unknown> => runtime.approve('one', wait, { by: ann });
    const reject = (): Promise<unknown> => runtime.reject('one', wait, { by: ann });
    for (const work of [approve, reject]) await assertRefusedAs(stage, 'one', { code: 'late-answer', as: LateAnswerError, work });
    same(await count('pay 1'), 1, 'payments');
  },
  'refuses a second answer while the first is worked on with already-answered': async (stage) => {
    const { runtime, world, run, reach, becomes, count } = stage;
    const wait = getWait(await run('one', 'pay 1@g; say End'));
    await runtime.approve('one', wait, { by: bob, until: 'accepted' });
    await reach('pay 1');
    const work = (): Promise<unknown> => runtime.approve('one', wait, { by: ann });
    await assertRefusedAs(stage, 'one', { code: 'already-answered', as: AlreadyAnsweredError, work });
    await world.open('g');
    same([(await becomes('one', 'completed')).text, await count('pay 1')], ['End', 1], 'end');
  },
  'refuses a digest that was never given out with forged-approval': async (stage) => {
    const { runtime, run, count } = stage;
    const wait = { ...getWait(await run('one', 'pay 1')), digest: '0'.repeat(64) };
    const approve = (): Promise<unknown> => runtime.approve('one', wait, { by: ann });
    const reject = (): Promise<unknown> => runtime.reject('one', wait, { by: ann });
    for (const work of [approve, reject]) await assertRefusedAs(stage, 'one', { code: 'forged-approval', as: ForgedApprovalError, work });
    same(await count('pay 1'), 0, 'payments');
  },
  'refuses an approval of arguments that have changed since with stale-approval': async (stage) => {
    const { runtime, run, count } = stage;
    const shown = getWait(await run('one', 'pay 13'));
    const again = getWait(await within(runtime.approve('one', shown, { by: bob }), 'approve()'));
    holds(again.digest !== shown.digest, 'the call has other arguments, but the same digest');
    const work = (): Promise<unknown> => runtime.approve('one', shown, { by: bob });
    await assertRefusedAs(stage, 'one', { code: 'stale-approval', as: StaleApprovalError, work });
    same((await runtime.approve('one', again, { by: bob })).status, 'completed', 'status');
    same([await count('pay 13'), await count('pay 14')], [0, 1], 'payments');
  },
  'refuses an approval of another session with foreign-approval': async (stage) => {
    const { runtime, run, count } = stage;
    const wait = getWait(await run('one', 'pay 1'));
    await run('two', 'pay 1');
    const work = (): Promise<unknown> => runtime.approve('two', wait, { by: bob });
    await assertRefusedAs(stage, 'two', { code: 'foreign-approval', as: ForeignApprovalError, work });
    same(await count('pay 1'), 0, 'payments');
  },
  'refuses a fork after a step that was never recorded with unknown-step': async (stage) => {
    await stage.run('one', 'say Hello');
    for (const at of [
      { execution: 1, step: 2 },
      { execution: 2, step: 1 },
      { execution: 2, step: 0 },
      { execution: 0, step: 0 },
    ]) {
      const work = (): Promise<unknown> => stage.runtime.fork('one', at, { by: bob, id: 'two' });
      await assertRefusedAs(stage, 'one', { code: 'unknown-step', as: UnknownStepError, work });
    }
    await assertRefused(stage.runtime.get('two'), 'unknown-session', 'the fork that was not created');
  },
  'refuses edited arguments that do not fit with invalid-argument, and the call still waits': async (stage) => {
    const { runtime, run, count } = stage;
    const wait = getWait(await run('one', 'pay 1'));
    const work = (): Promise<unknown> => runtime.approve('one', wait, { by: bob, args: { amount: 'all' } });
    await assertRefusedAs(stage, 'one', { code: 'invalid-argument', as: InvalidArgumentError, work });
    same([(await runtime.approve('one', wait, { by: bob })).status, await count('pay 1')], ['completed', 1], 'end');
  },
  'refuses arguments that make no sense with invalid-argument': async (stage) => {
    const { runtime, run } = stage;
    const wait = getWait(await run('one', 'pay 1'));
    const { digest: _, ...bare } = wait;
    const wrong: readonly (() => Promise<unknown>)[] = [
      () => runtime.send('one', '', { by: ann }),
      () => runtime.send('one', 'Hello', { by: { id: '', kind: 'user' } }),
      () => runtime.send('one', 'Hello', { by: { id: 'x', kind: 'system' } }),
      () => runtime.send('', 'Hello', { by: ann }),
      () => runtime.cancel('one', '', { by: ann }),
      () => runtime.grant('one', {}, { by: ann }),
      // Holds: what somebody writes who has no types.
      () => runtime.approve('one', bare as typeof wait, { by: ann }),
      () => runtime.answer('one', wait, { by: ann, value: 1 }),
      () => runtime.cancelAll({}, 'enough', { by: ann }),
      () => runtime.deleteAll({}, { by: ann }),
      () => runtime.list({ limit: 0 }),
    ];
    for (const work of wrong) {
      const asPromise = (): Promise<unknown> => Promise.resolve().then(work);
      await assertRefusedAs(stage, 'one', { code: 'invalid-argument', as: InvalidArgumentError, work: asPromise });
    }
  },
  'refuses to continue with another release of its agent with agent-changed, if that is the rule': {
    needs: ['drain'],
    check: async (stage) => {
      const { drain, restart, run } = stage;
      await run('one', 'say Hello');
      await drain();
      await restart({ release: '2', onVersionChange: 'refuse' });
      const work = (): Promise<unknown> => stage.send('one', 'say Again');
      await assertRefusedAs(stage, 'one', { code: 'agent-changed', as: AgentChangedError, work });
    },
  },
  'refuses actions on a session whose step ends the process each time with crash-loop, until it is resumed': {
    needs: ['kill'],
    options: { maxRecoveries: 1 },
    check: async (stage) => {
      const { world, start, reach, kill, restart, becomes } = stage;
      await start('one', 'look 1@g; say End');
      for (const time of [1, 2]) {
        await reach('look 1', time);
        await kill();
        await restart();
      }
      const wait = getWait(await becomes('one', 'waiting'));
      same([wait.type, 'reason' in wait && wait.reason], ['person', 'crash-loop'], 'wait');
      const work = (): Promise<unknown> => stage.send('one', 'say Hello');
      await assertRefusedAs(stage, 'one', { code: 'crash-loop', as: CrashLoopError, work });
      await world.open('g');
      const end = await within(stage.runtime.resume('one', { by: bob }), 'resume()');
      same([end.status, end.text], ['completed', 'End'], 'result of resume()');
    },
  },
  'refuses actions once it is drained with runtime-closed': {
    needs: ['drain'],
    check: async ({ world, runtime, run }) => {
      await run('one', 'say Hello');
      if (world.leave === undefined) throw new ConformanceError('The world has the ability drain, but no leave().');
      await within(world.leave(), 'leave()');
      for (const work of [
        () => runtime.send('one', 'say Again', { by: ann }),
        () => runtime.create({ agent: 'desk', id: 'two' }, { by: ann }),
      ]) {
        const error = await assertRefused(work(), 'runtime-closed', 'an action on a drained runtime');
        holds(error instanceof RuntimeClosedError, 'the error is not an instance of RuntimeClosedError');
        same(error.isStored, false, 'isStored');
      }
    },
  },
};
