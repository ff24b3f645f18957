// What is done to a session at an awkward moment: while it starts, while it comes to rest, before the process dies.
import { describe, expect, test } from 'vitest';
import { pickSubjects } from '../support/test-scale.ts';
import { defineClientTool } from '../../src/entry/index.ts';
import type { EmbeddedRuntime, SessionStore } from '../../src/sessions/index.ts';
import { computeApprovalDigest } from '../../src/sessions/index.ts';
import { readActions, ann, bob, createGate, readEvents, places, stageOn, until, getWait } from './stage.ts';

/** Execution and step of the calls in these conversations. */
const first = { execution: 1, step: 1 };

const input = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const;

/** Lets promises that are there settle, this many layers deep. */
async function layers(count: number): Promise<void> {
  for (let layer = 0; layer < count; layer += 1) await Promise.resolve();
}

const usersSaid = async (runtime: EmbeddedRuntime, id: string): Promise<readonly string[]> =>
  (await runtime.get(id)).state.messages.toArray().flatMap((message) => (message.isUser() ? [message.text] : []));

describe.each(pickSubjects(places))('actions in flight over %s', (_, makePlace) => {
  async function withSession() {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    return { ...stage, runtime };
  }

  describe('cancel', () => {
    test('ends a run at a tool that hangs, and says why', async () => {
      const { runtime, gate, clock, place } = await withSession();
      const sent = runtime.send('one', 'slow 1; say End', { by: ann });
      await gate.current.reached;
      const cancelled = runtime.cancel('one', 'enough', { by: bob });
      await clock.advance(200);
      expect(await sent).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
      expect(await cancelled).toMatchObject({ status: 'stopped', stopReason: 'user_requested', execution: 1 });
      expect((await runtime.get('one')).explain()).toContain('enough');
      expect((await readActions(place.open(), 'one')).at(-1)).toMatchObject({ type: 'cancel', reason: 'enough', by: bob });
    });

    test('ends a run that has not begun yet, because its context is being made', async () => {
      const stage = stageOn(makePlace());
      const making = createGate();
      const runtime = stage.start({
        context: async () => {
          making.reach();
          await making.passed;
          return {};
        },
      });
      await runtime.create({ id: 'one' }, { by: ann });
      const sent = runtime.send('one', 'note 1; say End', { by: ann });
      await making.reached;
      const cancelled = runtime.cancel('one', 'enough', { by: bob });
      await until(async () => expect((await readActions(stage.place.open(), 'one')).at(-1)?.type).toBe('cancel'));
      making.open();
      expect([(await sent).stopReason, (await cancelled).stopReason, stage.ran]).toStrictEqual(['user_requested', 'user_requested', []]);
    });

    test('that was stored holds, though the process dies before the run has ended', async () => {
      const { gate, start, ran, place } = stageOn(makePlace());
      const inner = place.open();
      // Nothing of a step is recorded: the process dies before.
      const store: SessionStore = {
        ...inner,
        log: { ...inner.log, write: (write) => (write.clearsEffects === true ? new Promise(() => undefined) : inner.log.write(write)) },
      };
      const runtime = start({ store });
      await runtime.create({ id: 'one' }, { by: ann });
      await runtime.send('one', 'slow 1; note 2; say End', { by: ann, until: 'accepted' });
      await gate.current.reached;
      await runtime.cancel('one', 'enough', { by: bob, until: 'accepted' });
      gate.current = createGate();
      const next = start();
      await next.ready;
      await next.resume('one', { by: ann });
      expect([await next.get('one').then(({ stopReason }) => stopReason), ran]).toStrictEqual(['user_requested', []]);
    });

    test('of what an earlier process has left undone holds', async () => {
      const { runtime, gate, start, ran, place } = await withSession();
      await runtime.send('one', 'look 1; slow 2; note 3', { by: ann, until: 'accepted' });
      await gate.current.reached;
      const draining = runtime.drain();
      gate.current.open();
      await draining;
      ran.length = 0;
      // A context that is never there keeps it from being carried on.
      const broken = start({ context: () => Promise.reject(new Error('no database')) });
      await broken.ready;
      await until(async () => expect((await broken.get('one')).status).toBe('in_progress'));
      await Promise.allSettled([broken.cancel('one', 'enough', { by: bob })]);
      expect((await readActions(place.open(), 'one')).at(-1)?.type).toBe('cancel');
      const next = start();
      await next.resume('one', { by: ann });
      expect([(await next.get('one')).stopReason, ran]).toStrictEqual(['user_requested', []]);
    });

    test('leaves what was said meanwhile to the next execution', async () => {
      const { runtime, gate, clock } = await withSession();
      const first = runtime.send('one', 'slow 1', { by: ann });
      await gate.current.reached;
      const second = runtime.send('one', 'say Two', { by: ann });
      const cancelled = runtime.cancel('one', 'enough', { by: bob });
      await clock.advance(200);
      expect([(await first).stopReason, (await cancelled).execution]).toStrictEqual(['user_requested', 1]);
      expect(await second).toMatchObject({ execution: 2, text: 'Two' });
    });
  });

  test('an approval with a wrong digest is never used, whenever it comes', async () => {
    for (let after = 0; after < 40; after += 1) {
      const { runtime, gate, ran } = await withSession();
      const sent = runtime.send('one', 'pay 5 & slow 1', { by: ann });
      await gate.current.reached;
      gate.current.open();
      await layers(after);
      const [settled] = await Promise.allSettled([runtime.approve('one', { id: 'c1-0', digest: 'forged' }, { by: bob })]);
      await sent;
      expect([after, settled.status, ran]).toStrictEqual([after, 'rejected', ['slow 1']]);
    }
  }, 60_000);

  test('what is said while a run comes to rest is read once, whenever it comes', async () => {
    for (let after = 0; after < 40; after += 1) {
      const { runtime, gate } = await withSession();
      const first = runtime.send('one', 'slow 1; say One', { by: ann });
      await gate.current.reached;
      gate.current.open();
      await layers(after);
      const second = await runtime.send('one', 'say Two', { by: ann });
      await first;
      expect([after, second.status, await usersSaid(runtime, 'one')]).toStrictEqual([after, 'completed', ['slow 1; say One', 'say Two']]);
      expect((await runtime.get('one')).text).toBe('Two');
    }
  }, 60_000);

  test('messages that come during a step join the run in their order', async () => {
    const { runtime, gate, place } = await withSession();
    const first = runtime.send('one', 'slow 1', { by: ann });
    await gate.current.reached;
    const more = ['say A', 'say B', 'say C'].map((words) => runtime.send('one', words, { by: ann }));
    await until(async () => expect(await readActions(place.open(), 'one')).toHaveLength(5));
    gate.current.open();
    const turns = await Promise.all([first, ...more]);
    expect(turns.map(({ execution, text }) => [execution, text])).toStrictEqual(turns.map(() => [1, 'C']));
    expect(await usersSaid(runtime, 'one')).toStrictEqual(['slow 1', 'say A', 'say B', 'say C']);
  });

  test('whoever spoke hears how it came to rest, not where it stood when an answer was there already', async () => {
    const { runtime, gate, place } = await withSession();
    const sent = runtime.send('one', 'pay 5 & slow 1; say End', { by: ann });
    await gate.current.reached;
    const asked = { id: 'c1-0', toolName: 'pay', args: { amount: 5 } };
    const approved = runtime.approve('one', { ...asked, digest: await computeApprovalDigest('one', { ...asked, ...first }) }, { by: bob });
    await until(async () => expect((await readActions(place.open(), 'one')).at(-1)?.type).toBe('approve'));
    gate.current.open();
    expect(await approved).toMatchObject({ status: 'completed', text: 'End' });
    expect(await sent).toMatchObject({ status: 'completed', text: 'End' });
  });

  test('whoever answers one of several hears of a rest, never of something half done', async () => {
    const { runtime } = await withSession();
    const { waitingFor } = await runtime.send('one', 'pay 5 & pay 6 & pay 7; look 1; look 2; say End', { by: ann });
    const turns = await Promise.all(waitingFor.map((wait) => runtime.approve('one', wait, { by: bob })));
    for (const { status } of turns) expect(['waiting', 'completed']).toContain(status);
    expect(turns.at(-1)).toMatchObject({ status: 'completed', text: 'End' });
  });

  test.each<readonly [string, string, number]>([
    ['before the limit is reached', 'slow 1; look 2; look 3; say End', 3],
    ['in the step that reaches the limit', 'look 1; look 2; slow 3; look 4; say End', 3],
  ])('a grant that comes %s lets the run go on', async (_what, words, steps) => {
    const stage = stageOn(makePlace());
    const runtime = stage.start({ agents: [stage.agent({ limits: { steps, onLimit: 'pause' } })] });
    await runtime.create({ id: 'one' }, { by: ann });
    const sent = runtime.send('one', words, { by: ann });
    await stage.gate.current.reached;
    const granted = runtime.grant('one', { steps: 5 }, { by: bob });
    await until(async () => expect((await readActions(stage.place.open(), 'one')).at(-1)?.type).toBe('grant'));
    stage.gate.current.open();
    expect(await granted).toMatchObject({ status: 'completed', text: 'End', execution: 1 });
    expect(await sent).toMatchObject({ status: 'completed', text: 'End' });
  });

  test('who acts is kept as id and kind, and nothing else of them', async () => {
    const { runtime, place } = await withSession();
    const user = { id: 'ann', kind: 'user', passwordHash: 'secret' };
    await runtime.send('one', 'say Hello', { by: user });
    expect((await readActions(place.open(), 'one')).at(-1)?.by).toStrictEqual({ id: 'ann', kind: 'user' });
  });

  test('who acts may have fields that cannot be stored, without harm to the session', async () => {
    const { runtime } = await withSession();
    const user = { id: 'ann', kind: 'user', rowId: 10n };
    await Promise.allSettled([runtime.send('one', 'say Hello', { by: user })]);
    expect((await runtime.send('one', 'say Still here', { by: ann })).text).toBe('Still here');
  });

  test('changing what was handed in later changes nothing', async () => {
    const { runtime, place } = await withSession();
    const who = { id: 'ann', kind: 'user' };
    const tags = ['a'];
    await runtime.create({ id: 'two', tags }, { by: who });
    await runtime.send('two', 'pay 5', { by: who });
    const args = { amount: 6 };
    const approving = runtime.approve('two', await getWait(runtime, 'two'), { by: who, args });
    args.amount = 1000;
    who.id = 'eve';
    tags.push('b');
    await approving;
    expect((await runtime.get('two')).tags).toStrictEqual(['a']);
    expect((await readActions(place.open(), 'two')).at(-1)).toMatchObject({ type: 'approve', args: { amount: 6 }, by: { id: 'ann' } });
  });

  test('a client tool that is answered in the wrong form waits again, and says why', async () => {
    const stage = stageOn(makePlace());
    const ask = defineClientTool({
      name: 'ask',
      description: 'Asks.',
      input,
      output: { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] } as const,
    });
    const runtime = stage.start({ agents: [stage.agent({ tools: [ask] })] });
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'ask 1', { by: ann });
    const wait = await getWait(runtime, 'one');
    const [settled] = await Promise.allSettled([runtime.answer('one', wait, { by: ann, value: { colour: 5 } })]);
    if (settled.status === 'fulfilled')
      expect(settled.value).toMatchObject({ status: 'waiting', waitingFor: [{ problem: expect.stringContaining('colour') as string }] });
    else expect(settled.reason).toMatchObject({ code: 'invalid-argument' });
    expect((await runtime.answer('one', await getWait(runtime, 'one'), { by: ann, value: { colour: 'blue' } })).status).toBe('completed');
  });

  test('an answer that is accepted and turns out to be of no use is told to somebody', async () => {
    const { runtime, gate, problems } = await withSession();
    const sent = runtime.send('one', 'slow 1; say End', { by: ann });
    await gate.current.reached;
    await runtime.reject('one', { id: 'c9-9' }, { by: bob, until: 'accepted' });
    gate.current.open();
    await sent;
    expect(problems).toHaveLength(1);
  });

  test('a runtime that was taken for gone in the middle of a step writes nothing more of it, and whoever waited gets the result of the other', async () => {
    const { runtime, gate, start, problems } = await withSession();
    const sent = runtime.send('one', 'look 1; slow 2; note 3; say End', { by: ann });
    await gate.current.reached;
    const { open } = gate.current;
    gate.current = createGate();
    const next = start();
    await until(async () => expect((await next.get('one')).text).toBe('End'));
    await next.resume('one', { by: ann });
    const before = await readEvents(next, 'one');
    open();
    expect(await sent).toMatchObject({ status: 'completed', text: 'End', execution: 1 });
    expect(await readEvents(next, 'one')).toStrictEqual(before);
    expect(problems).toStrictEqual([]);
    // It is a worker like any other again.
    expect((await runtime.send('one', 'say Me', { by: ann })).text).toBe('Me');
  });
});
