import { describe, expect, test } from 'vitest';
import { pickSubjects } from '../support/test-scale.ts';
import type { SessionRuntimeOptions } from '../../src/sessions/index.ts';
import { readActions, ann, bob, createGate, dump, readEvents, places, refusal, stageOn, until, getWait } from './stage.ts';

describe.each(pickSubjects(places))('drain over %s', (_, makePlace) => {
  async function underWay(more: Partial<SessionRuntimeOptions> = {}) {
    const stage = stageOn(makePlace());
    const runtime = stage.start(more);
    await runtime.create({ id: 'one' }, { by: ann });
    const sent = Promise.allSettled([runtime.send('one', 'look 1; slow 2; look 3; say End', { by: ann, requestId: 'r' })]);
    await stage.gate.current.reached;
    return { ...stage, runtime, sent };
  }

  test('lets the step under way end, and leaves the rest to the next runtime', async () => {
    const { runtime, sent, gate, ran, place, start, clock } = await underWay();
    const draining = runtime.drain();
    await clock.advance(0);
    gate.current.open();
    await draining;
    expect(ran).toStrictEqual(['look 1', 'slow 2']);
    const reader = place.open();
    expect(await reader.log.load('one')).toMatchObject({
      header: { status: 'in_progress', isOpen: true },
      effects: [],
      attempts: 0,
    });
    // Whoever waited hears that it goes on elsewhere, or how it stood.
    const [settled] = await sent;
    expect(settled).toMatchObject(
      settled.status === 'rejected' ? { reason: { code: 'runtime-closed' } } : { value: { status: 'in_progress' } },
    );
    const next = start();
    expect((await next.ready).resumed).toStrictEqual(['one']);
    expect(await next.send('one', 'look 1; slow 2; look 3; say End', { by: ann, requestId: 'r' })).toMatchObject({
      isRepeated: true,
      execution: 1,
      status: 'completed',
      text: 'End',
    });
    expect(ran).toStrictEqual(['look 1', 'slow 2', 'look 3']);
    const events = await readEvents(next, 'one');
    expect(events.map(({ seq }) => seq)).toStrictEqual(events.map((_event, index) => index + 1));
  });

  test('takes nothing new: every action is refused, and nothing of it is stored', async () => {
    const { runtime, gate, clock, place } = await underWay();
    const draining = runtime.drain();
    await clock.advance(0);
    const before = await dump(place.open());
    const wait = { id: 'c1-0', digest: 'x' };
    for (const action of [
      runtime.create({ id: 'two' }, { by: ann }),
      runtime.send('one', 'Hello.', { by: ann }),
      runtime.resume('one', { by: ann }),
      runtime.cancel('one', 'enough', { by: ann }),
      runtime.approve('one', wait, { by: ann }),
      runtime.reject('one', wait, { by: ann }),
      runtime.answer('one', wait, { by: ann, value: 1 }),
      runtime.grant('one', { steps: 1 }, { by: ann }),
      runtime.fork('one', { execution: 1, step: 1 }, { by: ann }),
    ]) {
      const { message } = await refusal(action, 'runtime-closed');
      expect(message).toContain('drained');
    }
    expect(await dump(place.open())).toStrictEqual(before);
    gate.current.open();
    await draining;
  });

  test('what came during the step is kept for the next runtime', async () => {
    const { runtime, gate, clock, place, start } = await underWay();
    const second = Promise.allSettled([runtime.send('one', 'say Later', { by: bob, requestId: 'q' })]);
    await until(async () => expect(await readActions(place.open(), 'one')).toHaveLength(3));
    const draining = runtime.drain();
    await clock.advance(0);
    gate.current.open();
    await draining;
    await second;
    const next = start();
    const turn = await next.send('one', 'say Later', { by: bob, requestId: 'q' });
    expect(turn).toMatchObject({ isRepeated: true, status: 'completed', text: 'Later' });
    const { messages } = (await next.get('one')).state;
    expect(messages.toArray().filter((message) => message.isUser())).toHaveLength(2);
  });

  test('with a tool that hangs ends at its time, writes nothing after that, and the next runtime goes on', async () => {
    const { runtime, clock, sent, gate, ran, place, start } = await underWay();
    let isDrained = false;
    const draining = runtime.drain({ timeoutMs: 5000 }).then(() => {
      isDrained = true;
    });
    await clock.advance(4999);
    expect(isDrained).toBe(false);
    await clock.advance(1);
    await draining;
    await clock.advance(1000);
    expect(clock.pendingTimers()).toBe(0);
    const [settled] = await sent;
    expect(settled).toMatchObject({ status: 'rejected', reason: { code: 'runtime-closed' } });
    const before = await dump(place.open());
    // The tool ends after all: too late.
    gate.current.open();
    await clock.advance(0);
    expect(await dump(place.open())).toStrictEqual(before);
    gate.current = createGate();
    const next = start();
    const turn = await next.send('one', 'look 1; slow 2; look 3; say End', { by: ann, requestId: 'r' });
    expect(turn).toMatchObject({ status: 'completed', text: 'End', execution: 1 });
    // It was begun once; nobody begins it again.
    expect(ran.filter((each) => each === 'slow 2').length).toBeLessThanOrEqual(1);
  });

  test('aborts the signal of what hangs when its time is up', async () => {
    const stage = stageOn(makePlace());
    const seen: string[] = [];
    const slow = {
      ...stage.tools.slow,
      run: (_args: unknown, { signal }: { readonly signal: AbortSignal }) => {
        stage.gate.current.reach();
        return new Promise(() => {
          signal.addEventListener('abort', () => seen.push('aborted'));
        });
      },
    };
    const runtime = stage.start({ agents: [stage.agent({ tools: [slow] })] });
    await runtime.create({ id: 'one' }, { by: ann });
    const sent = Promise.allSettled([runtime.send('one', 'slow 2', { by: ann })]);
    await stage.gate.current.reached;
    const draining = runtime.drain({ timeoutMs: 100 });
    await stage.clock.advance(99);
    expect(seen).toStrictEqual([]);
    await stage.clock.advance(1);
    await draining;
    await sent;
    expect(seen).toStrictEqual(['aborted']);
  });

  test.each<readonly [string, Partial<SessionRuntimeOptions>]>([
    ['at rest', {}],
    ['with approvals that expire', { approvals: { expireAfterMs: 1000 } }],
  ])('leaves no timer behind, %s', async (_what, more) => {
    const stage = stageOn(makePlace());
    const runtime = stage.start(more);
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'pay 1', { by: ann });
    await stage.clock.advance(10);
    await runtime.drain();
    expect(stage.clock.pendingTimers()).toBe(0);
    await stage.clock.advance(100_000);
    expect(stage.clock.pendingTimers()).toBe(0);
    expect((await stage.place.open().log.load('one'))?.header.status).toBe('waiting');
  });

  test('leaves no timer behind where it comes while it looks for what has expired', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start({ approvals: { expireAfterMs: 1000 } });
    await runtime.ready;
    // Fires the timer; what it does is not done yet.
    stage.clock.skip(0);
    await runtime.drain();
    await stage.clock.advance(0);
    expect(stage.clock.pendingTimers()).toBe(0);
  });

  test('leaves no timer behind where a step ran', async () => {
    const { runtime, gate, clock } = await underWay();
    const draining = runtime.drain();
    await clock.advance(0);
    gate.current.open();
    await draining;
    await clock.advance(0);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('of a runtime at rest, twice, and before it is ready, is at once', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await Promise.all([runtime.drain(), runtime.drain()]);
    await runtime.drain();
    await refusal(runtime.create({}, { by: ann }), 'runtime-closed');
    expect(stage.clock.pendingTimers()).toBe(0);
  });

  test('of a runtime whose store cannot be opened is at once', async () => {
    const stage = stageOn(makePlace());
    const store = stage.place.open();
    await store.close();
    const runtime = stage.start({ store });
    await runtime.drain();
    await refusal(runtime.ready, 'store-unavailable');
    expect(stage.clock.pendingTimers()).toBe(0);
  });

  test('leaves an approval that was just given to the next runtime, which carries it out once', async () => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await runtime.create({ id: 'one' }, { by: ann });
    await runtime.send('one', 'pay 5', { by: ann });
    const wait = await getWait(runtime, 'one');
    await runtime.approve('one', wait, { by: bob, until: 'accepted' });
    await runtime.drain();
    const next = stage.start();
    await next.resume('one', { by: ann });
    expect((await next.get('one')).status).toBe('completed');
    expect(stage.ran).toStrictEqual(['pay 5']);
  });

  test.each([-1, Number.NaN, '5'])('timeoutMs: %s is refused', async (timeoutMs) => {
    const stage = stageOn(makePlace());
    const runtime = stage.start();
    await refusal(runtime.drain({ timeoutMs: timeoutMs as never }), 'invalid-argument');
    await runtime.drain();
  });
});
