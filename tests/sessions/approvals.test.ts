import { describe, expect, test } from 'vitest';
import { pickSubjects } from '../support/test-scale.ts';
import { subAgents } from '../../src/capabilities/index.ts';
import { createAgent, defineHook } from '../../src/entry/index.ts';
import type { EmbeddedRuntime, SessionRuntimeOptions, SessionWait, SessionResult } from '../../src/sessions/index.ts';
import { computeApprovalDigest } from '../../src/sessions/index.ts';
import type { Place, Stage } from './stage.ts';
import { readActions, ann, bob, createGate, dump, places, refusal, resultsRead, stageOn, until, getWait } from './stage.ts';

/** Execution and step of the calls in these conversations. */
const first = { execution: 1, step: 1 };

interface Parked extends Stage {
  readonly runtime: EmbeddedRuntime;
  readonly id: string;
  readonly wait: SessionWait;
}

async function park(place: Place, words = 'pay 5', more: Partial<SessionRuntimeOptions> = {}): Promise<Parked> {
  const stage = stageOn(place);
  const runtime = stage.start(more);
  await runtime.ready;
  // Lets it look through the store for the first time.
  await stage.clock.advance(0);
  const { id } = await runtime.create({ id: 'one' }, { by: ann });
  const turn = await runtime.send(id, words, { by: ann });
  expect(turn.status).toBe('waiting');
  // Holds: it waits.
  return { ...stage, runtime, id, wait: turn.waitingFor[0] as SessionWait };
}

describe.each(pickSubjects(places))('approvals over %s', (_, makePlace) => {
  /** Refused with this code, and nothing that is stored has changed by it. */
  async function expectRefusalWithoutTrace(place: Place, code: string, work: () => Promise<SessionResult>): Promise<string> {
    const reader = place.open();
    const before = await dump(reader);
    const { message } = await refusal(work(), code);
    expect(await dump(reader)).toStrictEqual(before);
    return message;
  }

  test('are bound to the session, the call and its arguments', async () => {
    const { runtime, wait, id } = await park(makePlace());
    await runtime.create({ id: 'two' }, { by: ann });
    const other = await runtime.send('two', 'pay 5', { by: ann });
    expect(other.waitingFor[0]).toMatchObject({ id: wait.id, toolName: 'pay', args: { amount: 5 }, sessionId: 'two' });
    expect(wait).toMatchObject({ type: 'approval', sessionId: id, digest: await computeApprovalDigest(id, { ...wait, ...first }) });
    const digests = [
      wait.digest,
      other.waitingFor[0]?.digest,
      await computeApprovalDigest(id, { ...first, id: wait.id, toolName: 'pay', args: { amount: 6 } }),
      await computeApprovalDigest(id, { ...first, id: 'c9-0', toolName: 'pay', args: { amount: 5 } }),
      await computeApprovalDigest(id, { ...first, id: wait.id, toolName: 'look', args: { amount: 5 } }),
    ];
    expect(new Set(digests).size).toBe(5);
  });

  test('let the call run once, and the log says who decided and when', async () => {
    const { runtime, wait, id, ran, clock, place } = await park(makePlace());
    await clock.advance(1234);
    const end = await runtime.approve(id, wait, { by: bob });
    expect(end).toMatchObject({ status: 'completed', text: 'Done.', execution: 1, waitingFor: [] });
    expect(ran).toStrictEqual(['pay 5']);
    expect((await readActions(place.open(), id)).at(-1)).toStrictEqual({
      type: 'approve',
      waitId: wait.id,
      digest: wait.digest,
      by: bob,
      at: clock.now(),
      shown: { toolName: 'pay', args: { amount: 5 } },
    });
  });

  test('may come with other arguments: the tool gets them, and the model reads them', async () => {
    const { runtime, wait, id, ran, model, place } = await park(makePlace());
    const end = await runtime.approve(id, wait, { by: bob, args: { amount: 7 } });
    expect(end.status).toBe('completed');
    expect(ran).toStrictEqual(['pay 7']);
    expect((await readActions(place.open(), id)).at(-1)).toMatchObject({ type: 'approve', args: { amount: 7 }, by: bob });
    // What the model reads of the call, beside what the user said.
    const read = JSON.stringify(model.calls.at(-1)?.messages.filter((message) => !message.isUser()));
    expect(read).toMatch(/"amount\\*":\s?7/);
  });

  test('with arguments that do not fit are refused in words, and the call still waits', async () => {
    const { runtime, wait, id, ran, place } = await park(makePlace());
    const message = await expectRefusalWithoutTrace(place, 'invalid-argument', () =>
      runtime.approve(id, wait, { by: bob, args: { amount: 'all' } }),
    );
    expect(message).toMatch(/"pay".*amount.*still waiting/s);
    await expectRefusalWithoutTrace(place, 'invalid-argument', () => runtime.approve(id, wait, { by: bob, args: { amount: new Set() } }));
    expect((await getWait(runtime, id)).digest).toBe(wait.digest);
    expect((await runtime.approve(id, wait, { by: bob })).status).toBe('completed');
    expect(ran).toStrictEqual(['pay 5']);
  });

  test('may be refused for a reason, which the model reads', async () => {
    const { runtime, wait, id, ran, model, place } = await park(makePlace());
    const end = await runtime.reject(id, wait, { by: bob, reason: 'too dear' });
    expect(end.status).toBe('completed');
    expect(ran).toStrictEqual([]);
    expect(resultsRead(model)).toMatchObject([{ type: 'rejected', reason: 'too dear' }]);
    expect((await readActions(place.open(), id)).at(-1)).toMatchObject({ type: 'reject', reason: 'too dear', by: bob });
  });

  test('may be refused without a reason, and by the id alone', async () => {
    const { runtime, wait, id, model } = await park(makePlace());
    await runtime.reject(id, { id: wait.id }, { by: bob });
    expect(resultsRead(model)).toMatchObject([{ type: 'rejected', reason: 'no reason was given' }]);
  });

  test('a client tool is answered with its output', async () => {
    const { runtime, wait, id, model, place } = await park(makePlace(), 'ask 1');
    expect(wait).toMatchObject({ type: 'client-tool', toolName: 'ask', args: { amount: 1 } });
    const end = await runtime.answer(id, wait, { by: ann, value: { clicked: true } });
    expect(end.status).toBe('completed');
    expect(resultsRead(model)).toStrictEqual([{ type: 'json', value: { clicked: true } }]);
    expect((await readActions(place.open(), id)).at(-1)).toMatchObject({ type: 'answer', value: { clicked: true }, by: ann });
  });

  test.each([
    ['answer', { type: 'text', value: 'it was done' }],
    ['reject', { type: 'rejected', reason: 'it never was' }],
  ] as const)('a call that was cut off is settled by %s, and never runs again', async (way, output) => {
    const place = makePlace();
    const stage = stageOn(place);
    const before = stage.start({ agents: [stage.agent({ onUnknown: 'ask' })] });
    await before.create({ id: 'one' }, { by: ann });
    await before.send('one', 'slow 3', { by: ann, until: 'accepted' });
    await stage.gate.current.reached;
    stage.gate.current = createGate();
    const runtime = stage.start({ agents: [stage.agent({ onUnknown: 'ask' })] });
    expect((await runtime.ready).resumed).toStrictEqual(['one']);
    await until(async () => expect((await runtime.get('one')).status).toBe('waiting'));
    const wait = await getWait(runtime, 'one');
    expect(wait).toMatchObject({ type: 'unknown-call', toolName: 'slow', args: { amount: 3 } });
    const message = await expectRefusalWithoutTrace(place, 'invalid-argument', () => runtime.approve('one', wait, { by: bob }));
    expect(message).toContain('unknown-call');
    const end =
      way === 'answer'
        ? await runtime.answer('one', wait, { by: bob, value: 'it was done' })
        : await runtime.reject('one', wait, { by: bob, reason: 'it never was' });
    expect(end.status).toBe('completed');
    expect(resultsRead(stage.model)).toMatchObject([output]);
    expect(stage.ran).toStrictEqual([]);
  });

  describe('of a sub-agent', () => {
    async function parkNested(words: string) {
      const place = makePlace();
      const stage = stageOn(place);
      const top = () =>
        createAgent({
          id: 'top',
          model: stage.model,
          ports: { clock: stage.clock, ids: stage.ids },
          capabilities: [subAgents({ agents: { helper: { agent: stage.agent(), description: 'Helps.' } } })],
        });
      const first = stage.start({ agents: [top()] });
      await first.create({ id: 'one' }, { by: ann });
      expect((await first.send('one', `spawn_subagent ${words}`, { by: ann })).status).toBe('waiting');
      const runtime = stage.start({ agents: [top()] });
      return { ...stage, place, runtime, wait: await getWait(runtime, 'one') };
    }

    test('are asked at the top, and answered there after a restart', async () => {
      const { runtime, wait, ran, keys } = await parkNested('pay 5');
      expect(wait).toMatchObject({ type: 'approval', id: 'c1-0/c1-0', toolName: 'pay', args: { amount: 5 }, agent: 'helper' });
      const end = await runtime.approve('one', wait, { by: bob });
      expect(end).toMatchObject({ status: 'completed', text: 'Done.' });
      expect(ran).toStrictEqual(['pay 5']);
      expect(keys[0]).toMatch(/^one\/1\/1\//);
    });

    test('with other arguments reach the tool inside', async () => {
      const { runtime, wait, ran } = await parkNested('pay 5');
      await runtime.approve('one', wait, { by: bob, args: { amount: 8 } });
      expect(ran).toStrictEqual(['pay 8']);
    });

    test('with arguments that do not fit wait again, and say what was wrong', async () => {
      const { runtime, wait, ran } = await parkNested('pay 5');
      const [settled] = await Promise.allSettled([runtime.approve('one', wait, { by: bob, args: { amount: 'all' } })]);
      const again = await getWait(runtime, 'one');
      expect(again.digest).toBe(wait.digest);
      if (settled.status === 'fulfilled') {
        expect(settled.value.status).toBe('waiting');
        expect(again).toMatchObject({ problem: expect.stringMatching(/amount/) as string });
      }
      expect((await runtime.approve('one', again, { by: bob })).status).toBe('completed');
      expect(ran).toStrictEqual(['pay 5']);
    });

    test('forged, and under a wrong id, are refused without a trace', async () => {
      const { runtime, wait, place } = await parkNested('pay 5');
      await expectRefusalWithoutTrace(place, 'forged-approval', () => runtime.approve('one', { ...wait, digest: 'no' }, { by: bob }));
      await expectRefusalWithoutTrace(place, 'not-waiting', () => runtime.approve('one', { ...wait, id: 'c1-0' }, { by: bob }));
    });

    test('again after they were settled are late', async () => {
      const { runtime, wait, place } = await parkNested('pay 5');
      await runtime.approve('one', wait, { by: bob });
      const message = await expectRefusalWithoutTrace(place, 'late-answer', () => runtime.approve('one', wait, { by: ann }));
      expect(message).toContain('staff bob');
    });
  });

  test('one of two: that call runs, the other waits on', async () => {
    const { runtime, id, ran, model } = await park(makePlace(), 'pay 5 & pay 6 & look 7');
    expect(ran).toStrictEqual(['look 7']);
    const second = await getWait(runtime, id, 'c1-1');
    const turn = await runtime.approve(id, second, { by: bob });
    expect([turn.status, turn.waitingFor.map((wait) => wait.id)]).toStrictEqual(['waiting', ['c1-0']]);
    expect(ran).toStrictEqual(['look 7', 'pay 6']);
    expect(model.calls).toHaveLength(1);
    const end = await runtime.reject(id, await getWait(runtime, id), { by: ann, reason: 'no' });
    expect(end.status).toBe('completed');
    expect(ran).toStrictEqual(['look 7', 'pay 6']);
    expect(resultsRead(model)).toMatchObject([{ type: 'rejected' }, { type: 'text' }, { type: 'text' }]);
  });

  test('two at the same time: both calls run', async () => {
    const { runtime, id, ran } = await park(makePlace(), 'pay 5 & pay 6');
    const { waitingFor } = await runtime.get(id);
    const turns = await Promise.all(waitingFor.map((wait) => runtime.approve(id, wait, { by: bob })));
    expect(turns.map(({ execution }) => execution)).toStrictEqual([1, 1]);
    expect((await runtime.get(id)).status).toBe('completed');
    expect([...ran].sort()).toStrictEqual(['pay 5', 'pay 6']);
  });

  describe('that come early', () => {
    async function underWay() {
      const place = makePlace();
      const stage = stageOn(place);
      const runtime = stage.start();
      await runtime.create({ id: 'one' }, { by: ann });
      const sent = runtime.send('one', 'pay 5 & slow 1', { by: ann });
      await stage.gate.current.reached;
      const asked = { id: 'c1-0', toolName: 'pay', args: { amount: 5 } };
      return { ...stage, runtime, sent, asked, place };
    }

    test('are stored, and used when the step asks', async () => {
      const { runtime, sent, asked, gate, ran, place } = await underWay();
      const approving = runtime.approve(
        'one',
        { ...asked, digest: await computeApprovalDigest('one', { ...asked, ...first }) },
        { by: bob },
      );
      await until(async () => expect((await readActions(place.open(), 'one')).at(-1)).toMatchObject({ type: 'approve', by: bob }));
      gate.current.open();
      expect(await approving).toMatchObject({ status: 'completed', execution: 1 });
      expect((await sent).execution).toBe(1);
      expect(ran).toStrictEqual(['slow 1', 'pay 5']);
    });

    test('survive the process', async () => {
      const { runtime, asked, ran, gate, start } = await underWay();
      const digest = await computeApprovalDigest('one', { ...asked, ...first });
      await runtime.approve('one', { ...asked, digest }, { by: bob, until: 'accepted' });
      gate.current = createGate();
      const next = start();
      await until(async () => expect((await next.get('one')).status).toBe('completed'));
      // What was under way is unknown; what was approved runs.
      expect(ran).toStrictEqual(['pay 5']);
    });

    test('with a digest that does not fit what is asked then are refused, and the call waits', async () => {
      const { runtime, sent, asked, gate, ran } = await underWay();
      const digest = await computeApprovalDigest('one', { ...asked, ...first, args: { amount: 1 } });
      const approving = runtime.approve('one', { ...asked, digest }, { by: bob });
      const refused = refusal(approving, 'forged-approval');
      gate.current.open();
      await refused;
      expect((await sent).status).toBe('waiting');
      expect((await runtime.get('one')).waitingFor.map(({ id }) => id)).toStrictEqual(['c1-0']);
      expect(ran).toStrictEqual(['slow 1']);
    });

    test('with a digest that does not fit what was emitted are refused at once, and nothing is stored', async () => {
      const { runtime, asked, place, gate } = await underWay();
      const digest = await computeApprovalDigest('one', { ...asked, ...first, args: { amount: 1 } });
      await refusal(runtime.approve('one', { ...asked, digest }, { by: bob }), 'forged-approval');
      expect((await readActions(place.open(), 'one')).map(({ type }) => type)).not.toContain('approve');
      gate.current.open();
    });

    test('for a call that was not emitted yet are refused, even with the digest that it will have', async () => {
      const stage = stageOn(makePlace());
      const runtime = stage.start();
      await runtime.create({ id: 'one' }, { by: ann });
      const sent = runtime.send('one', 'slow 1; pay 5', { by: ann });
      await stage.gate.current.reached;
      const guessed = { id: 'c3-0', toolName: 'pay', args: { amount: 5 } };
      const digest = await computeApprovalDigest('one', { ...guessed, execution: 1, step: 2 });
      await refusal(runtime.approve('one', { ...guessed, digest }, { by: bob }), 'not-waiting');
      stage.gate.current.open();
      expect((await sent).waitingFor).toMatchObject([{ id: guessed.id, digest }]);
      expect(stage.ran).toStrictEqual(['slow 1']);
    });

    test('for what is never asked are refused', async () => {
      const { runtime, asked, gate } = await underWay();
      const refused = refusal(runtime.reject('one', { ...asked, id: 'c7-0' }, { by: bob }), 'not-waiting');
      gate.current.open();
      expect((await refused).message).toContain('c1-0');
    });

    test('and were refused do not count as the decision', async () => {
      const { runtime, sent, asked, gate } = await underWay();
      const forged = refusal(runtime.approve('one', { ...asked, digest: 'no' }, { by: bob }), 'forged-approval');
      gate.current.open();
      await forged;
      expect((await sent).status).toBe('waiting');
      await runtime.cancel('one', 'enough', { by: ann });
      const { message } = await refusal(runtime.reject('one', { id: 'c1-0' }, { by: ann }), 'late-answer');
      expect(message).not.toContain('approved by staff bob');
    });
  });

  describe('a second time', () => {
    test.each(['approve', 'reject'] as const)('%s while the first is worked on is refused, and the first stands', async (way) => {
      const { runtime, id, ran, gate, place } = await park(makePlace(), 'pay 5; slow 1');
      const wait = await getWait(runtime, id);
      const first = runtime.approve(id, wait, { by: bob });
      const second = runtime[way](id, wait, { by: ann });
      const [settled] = await Promise.all([
        Promise.allSettled([second]),
        gate.current.reached.then(() => {
          gate.current.open();
        }),
      ]);
      expect(settled[0]).toMatchObject({
        status: 'rejected',
        reason: { code: expect.stringMatching(/^(?:already-answered|late-answer)$/) as string },
      });
      expect((await first).status).toBe('completed');
      expect(ran).toStrictEqual(['pay 5', 'slow 1']);
      expect((await readActions(place.open(), id)).filter(({ type }) => type === 'approve' || type === 'reject')).toMatchObject([
        { type: 'approve', by: bob },
      ]);
    });

    test('while a later step runs is refused at once, not when the run has ended', async () => {
      const { runtime, id, wait, gate, clock } = await park(makePlace(), 'pay 5; slow 1');
      const first = runtime.approve(id, wait, { by: bob });
      await gate.current.reached;
      const answers: string[] = [];
      const second = runtime.approve(id, wait, { by: ann }).catch(() => answers.push('refused'));
      for (let turn = 0; turn < 10; turn += 1) await clock.advance(0);
      const before = [...answers];
      gate.current.open();
      await Promise.all([first, second]);
      expect(before).toStrictEqual(['refused']);
    });

    test('the same request is no second time', async () => {
      const { runtime, id, wait, ran } = await park(makePlace());
      const [one, two] = await Promise.all([
        runtime.approve(id, wait, { by: bob, requestId: 'r' }),
        runtime.approve(id, wait, { by: bob, requestId: 'r' }),
      ]);
      expect([one.status, one.isRepeated, two.status, two.isRepeated]).toStrictEqual(['completed', undefined, 'completed', true]);
      expect(await runtime.approve(id, wait, { by: bob, requestId: 'r' })).toMatchObject({ status: 'completed', isRepeated: true });
      expect(ran).toStrictEqual(['pay 5']);
      await refusal(runtime.reject(id, wait, { by: bob, requestId: 'r' }), 'request-reused');
    });

    test('answering both ways at once decides one way', async () => {
      const { runtime, id, wait, ran } = await park(makePlace());
      const settled = await Promise.allSettled([
        runtime.reject(id, wait, { by: ann, reason: 'no' }),
        runtime.approve(id, wait, { by: bob }),
      ]);
      expect(settled.map(({ status }) => status)).toStrictEqual(['fulfilled', 'rejected']);
      expect(ran).toStrictEqual([]);
    });
  });

  describe('that come late', () => {
    test('after somebody decided, say who and how', async () => {
      const { runtime, id, wait, place } = await park(makePlace());
      await runtime.reject(id, wait, { by: bob, reason: 'no' });
      const message = await expectRefusalWithoutTrace(place, 'late-answer', () => runtime.approve(id, wait, { by: ann }));
      expect(message).toMatch(/rejected by staff bob at 2026-01-01T00:00:00.000Z/);
    });

    test('after one of two was settled, with the other still waiting', async () => {
      const { runtime, id, wait, place } = await park(makePlace(), 'pay 5 & pay 6');
      await runtime.approve(id, wait, { by: bob });
      await expectRefusalWithoutTrace(place, 'late-answer', () => runtime.reject(id, wait, { by: ann }));
    });

    test('after a new message made the call pointless', async () => {
      const { runtime, id, wait, place, ran } = await park(makePlace());
      expect((await runtime.send(id, 'say Never mind.', { by: ann })).execution).toBe(2);
      const message = await expectRefusalWithoutTrace(place, 'late-answer', () => runtime.approve(id, wait, { by: bob }));
      expect(message).toContain('closed without an answer');
      expect(ran).toStrictEqual([]);
    });

    test('after it was cancelled', async () => {
      const { runtime, id, wait, place, ran } = await park(makePlace());
      expect(await runtime.cancel(id, 'changed my mind', { by: ann })).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
      await expectRefusalWithoutTrace(place, 'late-answer', () => runtime.approve(id, wait, { by: bob }));
      expect(ran).toStrictEqual([]);
    });

    test('after its execution has ended, and another one too', async () => {
      const { runtime, id, wait, place } = await park(makePlace());
      await runtime.approve(id, wait, { by: bob });
      await runtime.send(id, 'say Hello', { by: ann });
      await expectRefusalWithoutTrace(place, 'late-answer', () => runtime.approve(id, wait, { by: bob }));
      await expectRefusalWithoutTrace(place, 'late-answer', () => runtime.answer(id, wait, { by: bob, value: 1 }));
    });

    test('after a restart', async () => {
      const { runtime, id, wait, place, start } = await park(makePlace());
      await runtime.approve(id, wait, { by: bob });
      const next = start();
      await next.ready;
      await expectRefusalWithoutTrace(place, 'late-answer', () => next.approve(id, wait, { by: bob }));
    });
  });

  describe('that are not what was shown', () => {
    test('forged', async () => {
      const { runtime, id, wait, place, ran } = await park(makePlace());
      const message = await expectRefusalWithoutTrace(place, 'forged-approval', () =>
        runtime.approve(id, { ...wait, digest: 'f'.repeat(64) }, { by: bob }),
      );
      expect(message).toContain(wait.id);
      const digest = await computeApprovalDigest(id, { ...wait, ...first, args: { amount: 4 } });
      await expectRefusalWithoutTrace(place, 'forged-approval', () => runtime.approve(id, { ...wait, digest }, { by: bob }));
      await expectRefusalWithoutTrace(place, 'forged-approval', () => runtime.reject(id, { ...wait, digest }, { by: bob }));
      expect(ran).toStrictEqual([]);
    });

    test('stale: a hook changed the arguments after the approval, and it is asked again', async () => {
      const place = makePlace();
      const stage = stageOn(place);
      const hook = defineHook({
        name: 'rate',
        changes: ['args'],
        beforeTool: ({ call, approved }) =>
          approved && (call.args as { readonly amount: number }).amount === 5 ? { args: { amount: 6 } } : undefined,
      });
      const runtime = stage.start({ agents: [stage.agent({ hooks: [hook] })] });
      await runtime.create({ id: 'one' }, { by: ann });
      await runtime.send('one', 'pay 5', { by: ann });
      const shown = await getWait(runtime, 'one');
      const turn = await runtime.approve('one', shown, { by: bob });
      expect(turn.status).toBe('waiting');
      const again = await getWait(runtime, 'one');
      expect(again).toMatchObject({ id: shown.id, args: { amount: 6 }, problem: expect.any(String) as string });
      expect(again.digest).not.toBe(shown.digest);
      const message = await expectRefusalWithoutTrace(place, 'stale-approval', () => runtime.approve('one', shown, { by: bob }));
      expect(message).toMatch(/changed/);
      expect(stage.ran).toStrictEqual([]);
      expect((await runtime.approve('one', again, { by: bob })).status).toBe('completed');
      expect(stage.ran).toStrictEqual(['pay 6']);
    });

    test("of another session's call", async () => {
      const { runtime, wait, place, ran } = await park(makePlace());
      await runtime.create({ id: 'two' }, { by: ann });
      await runtime.send('two', 'pay 5', { by: ann });
      const message = await expectRefusalWithoutTrace(place, 'foreign-approval', () => runtime.approve('two', wait, { by: bob }));
      expect(message).toMatch(/"one".*"two"/);
      const { sessionId: _gone, ...bare } = wait;
      await expectRefusalWithoutTrace(place, 'forged-approval', () => runtime.approve('two', bare, { by: bob }));
      expect(ran).toStrictEqual([]);
    });

    test('without a digest, or no wait at all', async () => {
      const { runtime, id, wait, place } = await park(makePlace());
      await expectRefusalWithoutTrace(place, 'invalid-argument', () => runtime.approve(id, { id: wait.id } as never, { by: bob }));
      await expectRefusalWithoutTrace(place, 'invalid-argument', () => runtime.approve(id, wait.id as never, { by: bob }));
      await expectRefusalWithoutTrace(place, 'invalid-argument', () => runtime.approve(id, undefined as never, { by: bob }));
    });

    test('of the wrong kind', async () => {
      const { runtime, id, wait, place } = await park(makePlace(), 'pay 5 & ask 1');
      const client = await getWait(runtime, id, 'c1-1');
      const first = await expectRefusalWithoutTrace(place, 'invalid-argument', () => runtime.answer(id, wait, { by: bob, value: 'yes' }));
      expect(first).toMatch(/approve/);
      const second = await expectRefusalWithoutTrace(place, 'invalid-argument', () => runtime.approve(id, client, { by: bob }));
      expect(second).toMatch(/answer/);
      // Somebody without a compiler.
      await expectRefusalWithoutTrace(place, 'invalid-argument', () => runtime.reject(id, wait, { by: bob, reason: 5 as never }));
    });

    test('of an unknown id', async () => {
      const { runtime, id, wait, place } = await park(makePlace());
      const message = await expectRefusalWithoutTrace(place, 'not-waiting', () =>
        runtime.approve(id, { ...wait, id: 'c4-4' }, { by: bob }),
      );
      expect(message).toContain(wait.id);
    });

    test('of a grant, which is granted instead', async () => {
      const place = makePlace();
      const stage = stageOn(place);
      const runtime = stage.start({ agents: [stage.agent({ limits: { steps: 1, onLimit: 'pause' } })] });
      await runtime.create({ id: 'one' }, { by: ann });
      const turn = await runtime.send('one', 'look 1; look 2', { by: ann });
      expect(turn.waitingFor).toMatchObject([{ type: 'grant', limit: 'steps' }]);
      const wait = await getWait(runtime, 'one');
      const message = await expectRefusalWithoutTrace(place, 'invalid-argument', () => runtime.approve('one', wait, { by: bob }));
      expect(message).toContain('grant');
      expect(await runtime.grant('one', { steps: 5 }, { by: bob })).toMatchObject({ status: 'completed', execution: 1 });
      expect((await readActions(place.open(), 'one')).at(-1)).toMatchObject({ type: 'grant', amounts: { steps: 5 }, by: bob });
    });
  });

  describe('that nobody gives', () => {
    const approvals = { expireAfterMs: 1000 } as const;

    test('are rejected in time, by the runtime, and the model reads why', async () => {
      const { runtime, id, clock, model, wait, ran, place } = await park(makePlace(), 'pay 5', { approvals });
      expect(wait.expiresAt).toBe(clock.now() + 1000);
      await clock.advance(999);
      expect((await runtime.get(id)).status).toBe('waiting');
      await clock.advance(1);
      await until(async () => expect((await place.open().log.load(id))?.header.status).toBe('completed'));
      await clock.advance(0);
      expect(resultsRead(model)).toMatchObject([{ type: 'rejected', reason: 'nobody answered in time (until 2026-01-01T00:00:01.000Z)' }]);
      expect(ran).toStrictEqual([]);
      expect((await readActions(place.open(), id)).at(-1)).toMatchObject({ type: 'reject', by: { id: 'expiry', kind: 'system' } });
      const message = await expectRefusalWithoutTrace(place, 'late-answer', () => runtime.approve(id, wait, { by: bob }));
      expect(message).toContain('system expiry');
    });

    test('are given where the host says so', async () => {
      const { runtime, id, clock, ran, place } = await park(makePlace(), 'pay 5', {
        approvals: { ...approvals, whenExpired: 'approve' },
      });
      await clock.advance(1000);
      await until(async () => expect((await runtime.get(id)).status).toBe('completed'));
      expect(ran).toStrictEqual(['pay 5']);
      expect((await readActions(place.open(), id)).at(-1)).toMatchObject({ type: 'approve', by: { id: 'expiry', kind: 'system' } });
    });

    test.each(['reject', 'approve'] as const)(
      'are settled (%s) after a restart, counted from when they were asked for',
      async (whenExpired) => {
        const { clock, runtime: before, start, id, ran } = await park(makePlace(), 'pay 5', { approvals: { ...approvals, whenExpired } });
        await clock.advance(600);
        await before.drain();
        const runtime = start({ approvals: { ...approvals, whenExpired } });
        await runtime.ready;
        await clock.advance(399);
        expect((await runtime.get(id)).status).toBe('waiting');
        await clock.advance(1);
        await until(async () => expect((await runtime.get(id)).status).toBe('completed'));
        expect(ran).toStrictEqual(whenExpired === 'approve' ? ['pay 5'] : []);
      },
    );

    test('are settled at the start where their time has passed meanwhile', async () => {
      const { clock, runtime: before, start, id, ran } = await park(makePlace(), 'pay 5', { approvals });
      await before.drain();
      await clock.advance(100_000);
      const runtime = start({ approvals });
      await runtime.ready;
      await clock.advance(0);
      await until(async () => expect((await runtime.get(id)).status).toBe('completed'));
      expect(ran).toStrictEqual([]);
    });

    test('are settled in time after a restart, also where others have later been asked for', async () => {
      const { clock, runtime: before, start, id } = await park(makePlace(), 'pay 5', { approvals });
      await before.drain();
      const runtime = start({ approvals });
      await runtime.ready;
      await clock.advance(0);
      await runtime.create({ id: 'two' }, { by: ann });
      await clock.advance(500);
      await runtime.send('two', 'pay 6', { by: ann });
      await clock.advance(500);
      await until(async () => expect((await runtime.get(id)).status).toBe('completed'));
    });

    test('are settled in time where they were asked for before the first look', async () => {
      const stage = stageOn(makePlace());
      const runtime = stage.start({ approvals });
      await runtime.create({ id: 'one' }, { by: ann });
      await runtime.send('one', 'pay 5', { by: ann });
      await stage.clock.advance(1000);
      await until(async () => expect((await runtime.get('one')).status).toBe('completed'));
    });

    test('expire too where the host begins to settle them after they were asked for', async () => {
      const { clock, runtime: before, start, id } = await park(makePlace(), 'pay 5');
      await before.drain();
      const runtime = start({ approvals });
      await runtime.ready;
      expect((await getWait(runtime, id)).expiresAt).toBe(clock.now() + 1000);
      await clock.advance(120_000);
      await until(async () => expect((await runtime.get(id)).status).toBe('completed'));
    });

    test('expire each in its own time', async () => {
      const { clock, runtime, id } = await park(makePlace(), 'pay 5', { approvals });
      await clock.advance(500);
      await runtime.create({ id: 'two' }, { by: ann });
      await runtime.send('two', 'pay 6', { by: ann });
      await clock.advance(500);
      await until(async () => expect((await runtime.get(id)).status).toBe('completed'));
      expect((await runtime.get('two')).status).toBe('waiting');
      await clock.advance(500);
      await until(async () => expect((await runtime.get('two')).status).toBe('completed'));
    });

    test('expire without those that somebody gave, and without what is no approval', async () => {
      const { clock, runtime, id, ran, wait } = await park(makePlace(), 'pay 5 & pay 6 & ask 1', { approvals });
      await runtime.approve(id, wait, { by: bob });
      expect((await runtime.get(id)).waitingFor.map(({ expiresAt }) => typeof expiresAt)).toStrictEqual(['number', 'undefined']);
      await clock.advance(1000);
      await until(async () => expect((await runtime.get(id)).waitingFor.map(({ type }) => type)).toStrictEqual(['client-tool']));
      expect(ran).toStrictEqual(['pay 5']);
      expect((await runtime.answer(id, await getWait(runtime, id), { by: ann, value: 1 })).status).toBe('completed');
    });

    test('get no more time because another one was given', async () => {
      const { clock, runtime, id, wait } = await park(makePlace(), 'pay 5 & pay 6', { approvals });
      const due = wait.expiresAt;
      await clock.advance(900);
      await runtime.approve(id, wait, { by: bob });
      expect((await getWait(runtime, id)).expiresAt).toBe(due);
      await clock.advance(100);
      await until(async () => expect((await runtime.get(id)).status).toBe('completed'));
    });

    test('several of one step expire together', async () => {
      const { clock, runtime, id, ran, place } = await park(makePlace(), 'pay 5 & pay 6', {
        approvals: { ...approvals, whenExpired: 'approve' },
      });
      await clock.advance(1000);
      await until(async () => expect((await runtime.get(id)).status).toBe('completed'));
      expect([...ran].sort()).toStrictEqual(['pay 5', 'pay 6']);
      expect((await readActions(place.open(), id)).filter(({ type }) => type === 'approve')).toHaveLength(2);
    });

    test.each([Number.MAX_SAFE_INTEGER, 1e300])('an expiry in %s ms is at the latest time that there is', async (expireAfterMs) => {
      const stage = stageOn(makePlace());
      const runtime = stage.start({ approvals: { expireAfterMs } });
      await runtime.create({ id: 'one' }, { by: ann });
      expect((await runtime.send('one', 'pay 5', { by: ann })).waitingFor).toMatchObject([{ expiresAt: 8.64e15 }]);
    });

    test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('expireAfterMs: %s is refused', (expireAfterMs) => {
      const stage = stageOn(makePlace());
      expect(() => stage.start({ approvals: { expireAfterMs } })).toThrow(expect.objectContaining({ code: 'invalid-argument' }) as Error);
    });
  });
});
