import { describe, expect, test } from 'vitest';
import { pickSubjects } from '../support/test-scale.ts';
import type { Agent } from '../../src/entry/index.ts';
import type { OnVersionChange } from '../../src/sessions/index.ts';
import type { Stage } from './stage.ts';
import { ann, bob, changeStored, createGate, dump, readEvents, places, refusal, stageOn, until, getWait } from './stage.ts';

/** Two releases that say themselves who they are. */
const release = (stage: Stage, version: string): Agent => stage.agent({ version, instructions: `You are release ${version}.` });
const identity = ({ id, version, fingerprint }: Agent) => ({ id, version, fingerprint });
/** Release that was called last. */
const askedLast = ({ model }: Stage): string | undefined => /release (\S+)\./.exec(JSON.stringify(model.calls.at(-1)?.messages))?.[1];

const policies = ['pin', 'continue', 'refuse'] as const satisfies readonly OnVersionChange[];

describe.each(pickSubjects(places))('versions over %s', (_, makePlace) => {
  async function parkedByOne(words = 'pay 5') {
    const stage = stageOn(makePlace());
    const [one, two] = [release(stage, '1'), release(stage, '2')];
    const runtime = stage.start({ agents: [one] });
    await runtime.create({ id: 's' }, { by: ann });
    const turn = await runtime.send('s', words, { by: ann });
    await runtime.drain();
    return { ...stage, stage, one, two, turn };
  }

  test('a session keeps the id, version and fingerprint of its agent', async () => {
    const { one, start } = await parkedByOne();
    const runtime = start({ agents: [one] });
    const session = await runtime.get('s');
    expect(session.agent).toStrictEqual(identity(one));
    expect(session.state.execution.agent).toStrictEqual(identity(one));
    expect((await runtime.list()).sessions).toMatchObject([{ id: 's', agent: identity(one) }]);
  });

  test('fields of a session that this version does not know are kept', async () => {
    const { one, start, stage } = await parkedByOne();
    const store = stage.place.open();
    await changeStored(store, 's', ({ header }) => {
      const details = JSON.stringify({ ...(JSON.parse(header.details) as object), mood: 'fine' });
      return { header: { ...header, details } };
    });
    const runtime = start({ agents: [one] });
    await runtime.approve('s', await getWait(runtime, 's'), { by: bob });
    expect(JSON.parse((await store.log.load('s'))!.header.details)).toMatchObject({ mood: 'fine', stepCount: 2 });
  });

  test('an agent without a version is told apart by its fingerprint', async () => {
    const stage = stageOn(makePlace());
    const [one, two] = [stage.agent(), stage.agent({ instructions: 'Be kind.' })];
    const first = stage.start({ agents: [one] });
    await first.create({ id: 's' }, { by: ann });
    await first.send('s', 'say Hello', { by: ann });
    expect((await first.get('s')).agent).toStrictEqual({ id: 'desk', fingerprint: one.fingerprint });
    const next = stage.start({ agents: [two], onVersionChange: 'refuse' });
    const { message } = await refusal(next.send('s', 'say Again', { by: ann }), 'agent-changed');
    expect(message).toContain(one.fingerprint);
    expect(message).toContain(two.fingerprint);
  });

  describe.each(policies)('%s', (onVersionChange) => {
    test('the same version goes on', async () => {
      const { one, start } = await parkedByOne();
      const runtime = start({ agents: [one], onVersionChange });
      expect((await runtime.approve('s', await getWait(runtime, 's'), { by: bob })).status).toBe('completed');
      const { execution } = (await runtime.get('s')).state;
      expect([execution.agent, execution.resumedBy]).toStrictEqual([identity(one), undefined]);
    });

    test('a new version gets a new message', async () => {
      const { one, two, start, stage } = await parkedByOne('say Hello');
      const before = await dump(stage.place.open());
      const runtime = start({ agents: [two], onVersionChange });
      const sending = runtime.send('s', 'say Again', { by: ann });
      if (onVersionChange !== 'continue') {
        const { message } = await refusal(sending, 'agent-changed');
        expect(message).toMatch(/version 1 .*version 2 /);
        // What was refused is not kept either, so that it can be said again.
        expect(await dump(stage.place.open())).toStrictEqual(before);
        return;
      }
      expect(await sending).toMatchObject({ status: 'completed', text: 'Again', execution: 2 });
      expect(askedLast(stage)).toBe('2');
      const { agent, state } = await runtime.get('s');
      expect(agent).toStrictEqual(identity(two));
      expect(state.session.executions.map(({ agent: by, resumedBy }) => [by, resumedBy])).toStrictEqual([
        [identity(one), undefined],
        [identity(two), undefined],
      ]);
    });

    test('a new version gets an approval', async () => {
      const { one, two, start, stage, turn, ran } = await parkedByOne();
      const before = await dump(stage.place.open());
      const runtime = start({ agents: [two], onVersionChange });
      const [wait] = turn.waitingFor;
      if (wait === undefined) throw new Error('nothing waits');
      const approving = runtime.approve('s', wait, { by: bob });
      if (onVersionChange !== 'continue') {
        await refusal(approving, 'agent-changed');
        expect(await dump(stage.place.open())).toStrictEqual(before);
        expect(ran).toStrictEqual([]);
        return;
      }
      expect(await approving).toMatchObject({ status: 'completed', execution: 1 });
      expect([ran, askedLast(stage)]).toStrictEqual([['pay 5'], '2']);
      const { execution } = (await runtime.get('s')).state;
      expect([execution.agent, execution.resumedBy]).toStrictEqual([identity(one), [identity(two)]]);
      const started = (await readEvents(runtime, 's')).filter(({ type }) => type === 'AgentExecutionStarted');
      expect(started).toMatchObject([
        { resumed: false, agent: identity(one) },
        { resumed: true, agent: identity(two) },
      ]);
    });

    test('a new version finds what was interrupted', async () => {
      const stage = stageOn(makePlace());
      const [one, two] = [release(stage, '1'), release(stage, '2')];
      const first = stage.start({ agents: [one] });
      await first.create({ id: 's' }, { by: ann });
      await first.create({ id: 'other' }, { by: ann });
      await first.send('s', 'look 1; slow 2; say End', { by: ann, until: 'accepted' });
      await stage.gate.current.reached;
      stage.gate.current = createGate();
      const runtime = stage.start({ agents: [two], onVersionChange });
      const { resumed, failed } = await runtime.ready;
      if (onVersionChange !== 'continue') {
        // A pinned session is left to a worker that has its release.
        const problem = { code: 'agent-changed' };
        const [failures, problems] = onVersionChange === 'pin' ? [[], []] : [[{ sessionId: 's', error: problem }], [problem]];
        expect([resumed, failed, stage.problems]).toMatchObject([[], failures, problems]);
        expect((await runtime.get('s')).agent).toStrictEqual(identity(one));
        expect((await runtime.list()).sessions.every((session) => !('damage' in session))).toBe(true);
        // The release that began it finishes it.
        const back = stage.start({ agents: [one], onVersionChange });
        expect((await back.ready).resumed).toStrictEqual(['s']);
        await until(async () => expect((await back.get('s')).text).toBe('End'));
        return;
      }
      expect(resumed).toStrictEqual(['s']);
      await until(async () => expect((await runtime.get('s')).text).toBe('End'));
      const { execution } = (await runtime.get('s')).state;
      expect([execution.agent, execution.resumedBy]).toStrictEqual([identity(one), [identity(two)]]);
    });

    test('both versions are there', async () => {
      const { one, two, start, stage } = await parkedByOne();
      const runtime = start({ agents: [one, two], onVersionChange });
      expect((await runtime.create({ id: 'new' }, { by: ann })).agent).toStrictEqual(identity(two));
      const wait = await getWait(runtime, 's');
      if (onVersionChange === 'refuse') {
        await refusal(runtime.approve('s', wait, { by: bob }), 'agent-changed');
        return;
      }
      expect((await runtime.approve('s', wait, { by: bob })).status).toBe('completed');
      const expected = onVersionChange === 'pin' ? one : two;
      expect(askedLast(stage)).toBe(expected.version);
      expect((await runtime.send('s', 'say Again', { by: ann })).text).toBe('Again');
      expect(askedLast(stage)).toBe(expected.version);
      expect((await runtime.get('s')).agent).toStrictEqual(identity(expected));
    });
  });

  test('a session that was refused can still be read, listed, and cancelled', async () => {
    const { two, start } = await parkedByOne();
    const runtime = start({ agents: [two], onVersionChange: 'refuse' });
    expect((await runtime.get('s')).status).toBe('waiting');
    expect((await readEvents(runtime, 's')).length).toBeGreaterThan(0);
    const [settled] = await Promise.allSettled([runtime.cancel('s', 'no longer wanted', { by: ann })]);
    expect(settled).toMatchObject(
      settled.status === 'fulfilled' ? { value: { status: 'stopped' } } : { reason: { code: 'agent-changed' } },
    );
    // Whichever it was, it is what is stored.
    expect((await runtime.get('s')).status).toBe(settled.status === 'fulfilled' ? 'stopped' : 'waiting');
  });

  test('back and forth: every release that took an execution up is named, in order', async () => {
    const { one, two, start } = await parkedByOne('pay 1; pay 2; pay 3');
    for (const agent of [two, one, one]) {
      const runtime = start({ agents: [agent] });
      await runtime.approve('s', await getWait(runtime, 's'), { by: bob });
      await runtime.drain();
    }
    const { execution } = (await start({ agents: [one] }).get('s')).state;
    expect([execution.agent, execution.resumedBy]).toStrictEqual([identity(one), [identity(two), identity(one)]]);
  });

  test('pin names the version that is missing', async () => {
    const { two, start } = await parkedByOne();
    const runtime = start({ agents: [two], onVersionChange: 'pin' });
    const wait = await getWait(runtime, 's');
    const { message } = await refusal(runtime.approve('s', wait, { by: ann }), 'agent-changed');
    expect(message).toMatch(/version 1/);
    expect(message).toMatch(/Add that version to agents/);
  });
});
