// Answers, cancels and grants that come while a run is under way.
import { describe, expect, test } from 'vitest';
import type { BaseEvent } from '../../src/entry/index.ts';
import { RateLimitedError } from '../../src/entry/index.ts';
import type { EmbeddedRuntime, SessionResult, SessionStore } from '../../src/sessions/index.ts';
import { computeApprovalDigest } from '../../src/sessions/index.ts';
import type { Stage } from './gated-session.ts';
import { accepted, begin, by, calls, createGate, createStage, expectDenseEvents, settle, soon } from './gated-session.ts';

/** Execution and step of the calls in these conversations. */
const first = { execution: 1, step: 1 };

describe('answers', () => {
  const asking = async (heard: BaseEvent[]): Promise<{ readonly id: string; readonly digest: string; readonly sessionId: string }> => {
    // Holds: such an event has the id under which it is waited for.
    const event = heard.find(({ type }) => type === 'ToolApprovalRequested') as unknown as { readonly waitId: string } | undefined;
    const id = event?.waitId ?? 'nobody asked';
    return { id, sessionId: 's', digest: await computeApprovalDigest('s', { ...first, id, toolName: 'pay', args: {} }) };
  };
  const untilAsked = async (stage: Stage, heard: BaseEvent[], store = stage.store) => {
    const runtime = stage.start({ store, onEvent: (event) => void heard.push(event) });
    const { sent: first } = await begin(runtime);
    (await stage.gated.next()).answer(calls('pay', 'slow'));
    await settle();
    return { runtime, first, wait: await asking(heard) };
  };

  test('an approval that comes while the step still runs is kept, and applied when the step waits for it', async () => {
    const stage = createStage();
    const { runtime, first, wait } = await untilAsked(stage, []);
    const approved = runtime.approve('s', wait, { by, requestId: 'yes' });
    await settle();
    expect(stage.done).toStrictEqual([]);
    stage.slow.open();
    (await stage.gated.next()).answer({ text: 'Done.' });
    expect(await approved).toMatchObject({ status: 'completed', execution: 1, text: 'Done.' });
    await first;
    expect(stage.done).toStrictEqual(['slow', 'pay']);
    expect(await runtime.approve('s', wait, { by, requestId: 'yes' })).toMatchObject({ isRepeated: true, status: 'completed' });
    await expectDenseEvents(runtime);
  });

  test('an approval that came early outlives the process', async () => {
    const stage = createStage();
    const { runtime, wait } = await untilAsked(stage, []);
    await runtime.approve('s', wait, { ...accepted, requestId: 'yes' });
    const second = stage.start();
    stage.slow.open();
    (await stage.gated.next()).answer({ text: 'Done.' });
    await second.resume('s', { by });
    expect(await second.approve('s', wait, { by, requestId: 'yes' })).toMatchObject({
      isRepeated: true,
      status: 'completed',
      text: 'Done.',
    });
    expect(stage.done.filter((name) => name === 'pay')).toStrictEqual(['pay']);
  });

  test('an early approval of something else is refused, and the call still waits', async () => {
    const stage = createStage();
    const { runtime, first, wait } = await untilAsked(stage, []);
    const forged = runtime.approve('s', { ...wait, digest: '0'.repeat(64) }, { by, requestId: 'forged' });
    const refused = expect(forged).rejects.toMatchObject({ code: 'forged-approval' });
    await settle();
    stage.slow.open();
    await refused;
    expect(await first).toMatchObject({ status: 'waiting' });
    expect(stage.done).toStrictEqual(['slow']);
    const repeated = runtime.approve('s', { ...wait, digest: '0'.repeat(64) }, { by, requestId: 'forged' });
    await expect(repeated, 'repeating it gives what came of it').rejects.toThrow();
    const elsewhere = stage.start().approve('s', { ...wait, digest: '0'.repeat(64) }, { by, requestId: 'forged' });
    await expect(elsewhere, 'also in the next process').rejects.toThrow();
  });

  test('a request that is repeated while its refusal is being written is refused, too', async () => {
    const stage = createStage();
    const [disk, { store }] = [createGate(), stage];
    const slowStore: SessionStore = {
      ...store,
      log: {
        ...store.log,
        write: async (write) => {
          if (write.entries?.some(({ body }) => body.includes('"refused"')) === true) await disk.passed;
          return store.log.write(write);
        },
      },
    };
    const { runtime, wait } = await untilAsked(stage, [], slowStore);
    const reject = () => runtime.reject('s', { ...wait, digest: '0'.repeat(64) }, { by, requestId: 'forged' });
    const refused = expect(reject()).rejects.toMatchObject({ code: 'forged-approval' });
    await settle();
    stage.slow.open();
    await refused;
    const repeated = expect(reject()).rejects.toThrow();
    await settle();
    disk.open();
    await repeated;
  });

  test('a rejection that comes early is read by the model', async () => {
    const stage = createStage();
    const { runtime, wait } = await untilAsked(stage, []);
    const rejected = runtime.reject('s', wait, { by, reason: 'too much' });
    await settle();
    stage.slow.open();
    const asked = await stage.gated.next();
    expect(JSON.stringify(asked.request.messages)).toContain('too much');
    asked.answer({ text: 'Then not.' });
    expect(await rejected).toMatchObject({ status: 'completed', text: 'Then not.' });
    expect(stage.done).toStrictEqual(['slow']);
  });

  test('an early approval and a message behind it are taken in their order', async () => {
    const stage = createStage();
    const { runtime, wait } = await untilAsked(stage, []);
    const approved = runtime.approve('s', wait, { by });
    const sent = runtime.send('s', 'two', { by });
    await settle();
    stage.slow.open();
    const asked = await stage.gated.next();
    expect([asked.said, stage.done]).toStrictEqual([
      ['one', 'two'],
      ['slow', 'pay'],
    ]);
    asked.answer({ text: 'Both.' });
    expect([(await approved).text, (await sent).text]).toStrictEqual(['Both.', 'Both.']);
  });
});

describe('cancelling', () => {
  const isCancelled = { status: 'stopped', stopReason: 'user_requested' } as const;
  const cancelSession = async (runtime: EmbeddedRuntime): Promise<SessionResult> =>
    runtime.cancel('s', 'enough', { by, requestId: 'stop' });

  test('a run that is under way ends, and whoever waits for it hears so', async () => {
    const stage = createStage();
    const runtime = stage.start();
    const { sent: first } = await begin(runtime);
    await stage.gated.next();
    const cancelled = cancelSession(runtime);
    await settle();
    await stage.clock.advance(100);
    expect(await cancelled).toMatchObject({ ...isCancelled, execution: 1 });
    expect(await first).toMatchObject(isCancelled);
    expect((await runtime.get('s')).explain()).toContain('enough');
    await expectDenseEvents(runtime);
  });

  test('what waits for a person ends, and the call is not made', async () => {
    const stage = createStage();
    const runtime = stage.start();
    const { sent: first } = await begin(runtime);
    (await stage.gated.next()).answer(calls('pay'));
    const [wait] = (await first).waitingFor;
    expect(await cancelSession(runtime)).toMatchObject(isCancelled);
    await expect(runtime.approve('s', wait!, { by })).rejects.toMatchObject({ code: 'late-answer' });
    expect(stage.done).toStrictEqual([]);
    await expectDenseEvents(runtime);
  });

  test('a retry that is waited for is not made', async () => {
    const stage = createStage();
    const runtime = stage.start();
    const { sent: first } = await begin(runtime);
    (await stage.gated.next()).answer({ error: new RateLimitedError('busy', { retryAfterMs: 30_000 }) });
    await settle();
    const cancelled = cancelSession(runtime);
    await settle();
    await stage.clock.advance(100);
    expect(await cancelled).toMatchObject(isCancelled);
    expect(await first).toMatchObject(isCancelled);
    expect([stage.gated.asked.length, stage.clock.pendingTimers()]).toStrictEqual([1, 0]);
  });

  test('a run whose context is still being found ends before the model is asked', async () => {
    const stage = createStage();
    const context = createGate();
    const runtime = stage.start({ context: () => context.passed });
    const { sent: first } = await begin(runtime);
    await settle();
    const cancelled = cancelSession(runtime);
    await settle();
    context.open();
    await settle();
    await stage.clock.advance(100);
    expect(stage.gated.asked).toHaveLength(0);
    expect([await first, await cancelled]).toMatchObject([isCancelled, isCancelled]);
  });

  test('one that was accepted outlives the process: what was under way does not go on', async () => {
    const stage = createStage();
    const runtime = stage.start();
    await begin(runtime);
    (await stage.gated.next()).answer(calls('slow'));
    await settle();
    // The tool ignores its signal: the step is not recorded before its time of grace is over, and the process ends in that time.
    const cancelled = await runtime.cancel('s', 'enough', { ...accepted, requestId: 'stop' });
    expect(cancelled).toMatchObject({ execution: 1 });
    stage.slow.open();
    const second = stage.start();
    await second.ready;
    await settle();
    await stage.clock.advance(100);
    expect(stage.gated.asked).toHaveLength(1);
    expect(await second.get('s')).toMatchObject(isCancelled);
  });

  test('messages that waited open the next execution', async () => {
    const stage = createStage();
    const runtime = stage.start();
    const { sent: first } = await begin(runtime);
    await stage.gated.next();
    const second = runtime.send('s', 'two', { by });
    const cancelled = cancelSession(runtime);
    await settle();
    await stage.clock.advance(100);
    const asked = await soon(stage.gated.next());
    expect(asked.said).toStrictEqual(['one', 'two']);
    asked.answer({ text: 'Both.' });
    expect([await first, await cancelled, await second]).toMatchObject([
      { ...isCancelled, execution: 1 },
      { ...isCancelled, execution: 1 },
      { execution: 2, text: 'Both.' },
    ]);
  });

  test('where nothing is under way it changes nothing', async () => {
    const stage = createStage();
    const runtime = stage.start();
    const { sent: first } = await begin(runtime);
    (await stage.gated.next()).answer({ text: 'Done.' });
    await first;
    expect(await cancelSession(runtime)).toMatchObject({ status: 'completed', execution: 1 });
    const next = runtime.send('s', 'two', { by });
    (await stage.gated.next()).answer({ text: 'Still here.' });
    expect(await next).toMatchObject({ status: 'completed', text: 'Still here.' });
  });
});

describe('grants', () => {
  test('one that comes during a run raises its limits from the next boundary on', async () => {
    const stage = createStage({ limits: { steps: 2 } });
    const runtime = stage.start();
    const { sent: first } = await begin(runtime);
    const asked = await stage.gated.next();
    const granted = runtime.grant('s', { steps: 2 }, { by });
    await settle();
    asked.answer(calls('look'));
    for (let step = 2; step <= 4; step += 1) (await stage.gated.next()).answer(calls('look'));
    expect([await first, await granted]).toMatchObject([{ stopReason: 'steps_limit' }, { stopReason: 'steps_limit', execution: 1 }]);
    expect((await runtime.get('s')).stepCount).toBe(4);
  });

  test('one that comes in the last step of an execution is refused, and says why', async () => {
    const stage = createStage({ limits: { steps: 1 } });
    const runtime = stage.start();
    const { sent: first } = await begin(runtime);
    const asked = await stage.gated.next();
    const granted = runtime.grant('s', { steps: 2 }, { by });
    const refused = expect(granted).rejects.toThrow('ended');
    await settle();
    asked.answer(calls('look'));
    await refused;
    expect(await first).toMatchObject({ stopReason: 'steps_limit' });
  });
});
