// What is said while a run is under way.
import { describe, expect, test } from 'vitest';
import { accepted, begin, by, calls, createGate, createStage, expectDenseEvents, settle } from './gated-session.ts';

describe('messages', () => {
  test('one that comes during a run joins at the next boundary and is read in the same execution', async () => {
    const stage = createStage();
    const runtime = stage.start();
    const { sent: first } = await begin(runtime);
    const asked = await stage.gated.next();
    const second = runtime.send('s', 'two', { by });
    await settle();
    asked.answer(calls('look'));
    const next = await stage.gated.next();
    expect([asked.said, next.said]).toStrictEqual([['one'], ['one', 'two']]);
    next.answer({ text: 'Both.' });
    expect(await first).toMatchObject({ execution: 1, status: 'completed', text: 'Both.' });
    expect(await second).toMatchObject({ execution: 1, status: 'completed', text: 'Both.' });
    expect((await runtime.get('s')).executions).toBe(1);
    await expectDenseEvents(runtime);
  });

  test('they reset no limit: the steps before them count', async () => {
    const stage = createStage({ limits: { steps: 3 } });
    const runtime = stage.start();
    const { sent: first } = await begin(runtime);
    for (const text of ['two', 'three', 'four']) {
      const asked = await stage.gated.next();
      await runtime.send('s', text, accepted);
      asked.answer(calls('look'));
    }
    expect(await first).toMatchObject({ execution: 1, stopReason: 'steps_limit' });
    // The last one came in the step that ended the execution: it opens the next.
    const next = await stage.gated.next();
    expect(next.said).toStrictEqual(['one', 'two', 'three', 'four']);
    expect((await runtime.get('s')).state.execution.number).toBe(2);
  });

  test('those that wait when the execution ends open the next one together, in order', async () => {
    const stage = createStage();
    const runtime = stage.start();
    const { sent: first } = await begin(runtime);
    const asked = await stage.gated.next();
    const later = ['two', 'three', 'four'].map((text) => runtime.send('s', text, { by }));
    await settle();
    asked.answer({ text: 'To one.' });
    const next = await stage.gated.next();
    expect(next.said).toStrictEqual(['one', 'two', 'three', 'four']);
    // The first hears of its own execution while the next one is still under way.
    expect(await first).toMatchObject({ execution: 1, text: 'To one.' });
    next.answer({ text: 'To three.' });
    for (const turn of await Promise.all(later)) expect(turn).toMatchObject({ execution: 2, text: 'To three.', status: 'completed' });
    expect(stage.gated.asked).toHaveLength(2);
    await expectDenseEvents(runtime);
  });

  test('the same request during a run and after it is one message', async () => {
    const stage = createStage();
    const runtime = stage.start();
    await begin(runtime);
    const asked = await stage.gated.next();
    const twice = [1, 2].map(() => runtime.send('s', 'two', { by, requestId: 'r' }));
    await settle();
    asked.answer({ text: 'To one.' });
    (await stage.gated.next()).answer({ text: 'To two.' });
    const [once, again] = await Promise.all(twice);
    expect([once?.isRepeated, again?.isRepeated, again?.execution]).toStrictEqual([undefined, true, 2]);
    expect(await runtime.send('s', 'two', { by, requestId: 'r' })).toMatchObject({ isRepeated: true, execution: 2, text: 'To two.' });
    const other = await stage.start().send('s', 'two', { by, requestId: 'r' });
    expect(other).toMatchObject({ isRepeated: true, execution: 2, text: 'To two.' });
  });

  test('a request is found again behind more than a thousand others that waited with it', async () => {
    const stage = createStage();
    const runtime = stage.start();
    await begin(runtime);
    const asked = await stage.gated.next();
    const crowd = Array.from({ length: 1100 }, (_, index) => runtime.send('s', `m${index}`, { by, requestId: `m${index}` }));
    await settle();
    asked.answer({ text: 'To one.' });
    (await stage.gated.next()).answer({ text: 'To all.' });
    await Promise.all(crowd);
    const last = runtime.send('s', 'last', { by });
    (await stage.gated.next()).answer({ text: 'To the last.' });
    expect(await last).toMatchObject({ execution: 3 });
    expect(await runtime.send('s', 'm0', { by, requestId: 'm0' })).toMatchObject({ isRepeated: true, execution: 2, text: 'To all.' });
  });

  test('one that comes before the first step leaves no gap in the events, also where the process ends then', async () => {
    const stage = createStage();
    const context = createGate();
    const first = stage.start({ context: () => context.passed });
    await begin(first);
    await settle();
    await first.send('s', 'two', accepted);
    context.open();
    await stage.gated.next();
    await settle();
    const second = stage.start();
    const asked = await stage.gated.next();
    expect(asked.said).toStrictEqual(['one', 'two']);
    asked.answer({ text: 'Both.' });
    expect(await second.resume('s', { by })).toMatchObject({ status: 'completed' });
    await expectDenseEvents(second);
  });
});

describe('making sessions', () => {
  test('the same request makes one session', async () => {
    const stage = createStage();
    const runtime = stage.start();
    const one = await runtime.create({}, { by, requestId: 'new' });
    const two = await runtime.create({}, { by, requestId: 'new' });
    expect(two.id).toBe(one.id);
    expect((await runtime.list()).sessions).toHaveLength(1);
  });
});
