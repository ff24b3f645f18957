import { createDirectEffects } from '../effects/index.ts';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../testing/index.ts';
import { createRunControl } from './run-control.ts';
import { StepTimer } from './step-timer.ts';

function setUp() {
  const clock = createFakeClock(1000);
  const control = createRunControl();
  const timer = new StepTimer(clock);
  const effects = timer.watch(createDirectEffects({ clock, control, onProblem: (error) => expect.unreachable(String(error)) }));
  const spent = (): readonly number[] => [timer.activeMs, timer.waitedMs];
  return { clock, control, timer, effects, spent };
}

describe('T1: work counts as active, waiting counts apart', () => {
  test('a step that only works', () => {
    const { clock, timer, spent } = setUp();
    clock.skip(70);
    expect([timer.startedAt, ...spent()]).toStrictEqual([1000, 70, 0]);
  });

  test('a step that works, waits and works on', async () => {
    const { clock, effects, spent } = setUp();
    clock.skip(10);
    const waiting = effects.sleep('s', 500);
    await clock.advance(500);
    await waiting;
    clock.skip(20);
    expect(spent()).toStrictEqual([30, 500]);
  });

  test('a wait counts while it lasts', async () => {
    const { clock, effects, spent } = setUp();
    const waiting = effects.sleep('s', 500);
    await clock.advance(200);
    expect(spent()).toStrictEqual([0, 200]);
    await clock.advance(300);
    await waiting;
  });

  test('a wait that was ended early counts as long as it lasted', async () => {
    const { clock, control, effects, spent } = setUp();
    const waiting = effects.sleep('s', 500);
    await clock.advance(100);
    control.requestStop('enough');
    await waiting;
    clock.skip(5);
    expect(spent()).toStrictEqual([5, 100]);
  });

  test('other effects are work', async () => {
    const { clock, effects, spent } = setUp();
    expect(await effects.run('a', () => clock.skip(40))).toMatchObject({ ok: true });
    expect(spent()).toStrictEqual([40, 0]);
  });

  test('a machine whose clock is set back does not give time back', () => {
    const clock = createFakeClock();
    let shift = 0;
    const timer = new StepTimer({ ...clock, now: () => clock.now() + shift });
    shift = -60_000;
    clock.skip(70);
    expect(timer.activeMs).toBe(70);
  });
});

describe('T2: waits that overlap count once', () => {
  test('side by side, one within the other, and one after the other', async () => {
    const { clock, effects, spent } = setUp();
    const waits = [effects.sleep('long', 300), effects.sleep('short', 100)];
    await clock.advance(200);
    waits.push(effects.sleep('late', 200));
    await clock.advance(200);
    await Promise.all(waits);
    clock.skip(10);
    const after = effects.sleep('after', 50);
    await clock.advance(50);
    await after;
    expect(spent()).toStrictEqual([10, 450]);
  });

  test('work beside a wait is the wait’s time', async () => {
    const { clock, effects, spent } = setUp();
    const waiting = effects.sleep('s', 100);
    await effects.run('a', () => clock.skip(60));
    await clock.advance(40);
    await waiting;
    expect(spent()).toStrictEqual([0, 100]);
  });
});
