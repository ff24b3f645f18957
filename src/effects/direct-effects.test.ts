import { createHook } from 'node:async_hooks';
import { describe, expect, test } from 'vitest';
import { markCanonical } from '../lib/index.ts';
import { createFakeClock, effectsConformance } from '../testing/index.ts';
import { createDirectEffects } from './direct-effects.ts';
import type { EffectControl } from './effect-control.ts';

interface Problem {
  readonly error: unknown;
  readonly where: string;
}

/** The control of a run that a test interrupts or stops by hand. */
function createControl() {
  const [onInterrupt, onEnding] = [new Set<() => void>(), new Set<() => void>()];
  const controller = new AbortController();
  let [isInterrupted, isEnding] = [false, false];
  const subscribe = (calls: Set<() => void>, call: () => void, isOver: boolean): (() => void) => {
    if (isOver) call();
    else calls.add(call);
    return () => void calls.delete(call);
  };
  const control: EffectControl = {
    signal: controller.signal,
    get interruption() {
      return isInterrupted ? 'signal' : undefined;
    },
    onInterrupt: (call) => subscribe(onInterrupt, call, isInterrupted),
    onEnding: (call) => subscribe(onEnding, call, isEnding),
  };
  const requestStop = (): void => {
    isEnding = true;
    for (const call of [...onEnding]) call();
  };
  const interrupt = (reason: unknown): void => {
    isInterrupted = true;
    controller.abort(reason);
    for (const call of [...onInterrupt]) call();
    requestStop();
  };
  return { control, interrupt, requestStop, countListeners: () => onInterrupt.size };
}

function setUp(onProblem?: () => never) {
  const clock = createFakeClock();
  const { control, interrupt, requestStop, countListeners } = createControl();
  const problems: Problem[] = [];
  const effects = createDirectEffects({ clock, control, onProblem: onProblem ?? ((error, where) => problems.push({ error, where })) });
  return { clock, interrupt, requestStop, countListeners, effects, problems };
}

/** Work that ends when it is told to. */
function createWork<Value>() {
  let finish!: (value: Value) => void;
  let fail!: (error: Error) => void;
  const promise = new Promise<Value>((resolve, reject) => {
    finish = resolve;
    fail = reject;
  });
  return { work: () => promise, finish, fail };
}

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

describe('direct effects keep the promises of the port', () => {
  const cases = effectsConformance(({ clock, control }) =>
    createDirectEffects({ clock, control, onProblem: (error) => expect.unreachable(String(error)) }),
  );
  test.each(cases)('$name', ({ run }) => run());
});

describe('E1: nothing is thrown', () => {
  test.each([
    ['an Error', new Error('broken'), 'broken'],
    ['a string', 'broken', 'broken'],
    ['undefined', undefined, 'undefined'],
    ['an object that cannot be read', Object.defineProperty({}, 'message', { get: () => expect.unreachable() }), '{}'],
  ])('work that throws %s gives a failure', async (_, thrown, message) => {
    const { effects } = setUp();
    const result = await effects.run('tool/1/0', () => Promise.reject(thrown as Error), { failsAs: 'tool' });
    expect(result).toMatchObject({ ok: false, kind: 'error', type: 'tool', message });
  });

  test('a time-out names the effect and its time, and is of type timeout whatever it fails as', async () => {
    const { effects, clock } = setUp();
    const pending = effects.run('tool/1/0', () => new Promise(() => undefined), { timeoutMs: 250, failsAs: 'tool' });
    await clock.advance(250);
    expect(await pending).toMatchObject({ kind: 'timeout', type: 'timeout', message: 'tool/1/0 took longer than 250 ms.' });
  });
});

describe('E3: what comes too late is dropped', () => {
  test('a value after an interruption is reported, with its key', async () => {
    const { effects, interrupt, problems } = setUp();
    const { work, finish } = createWork<string>();
    const pending = effects.run('tool/2/1', work);
    interrupt('enough');
    expect(await pending).toMatchObject({ ok: false, kind: 'cancelled', code: 'cancelled', retryable: false });
    finish('too late');
    await turn();
    expect(problems).toMatchObject([{ error: { code: 'late-result', key: 'tool/2/1' }, where: 'effect tool/2/1' }]);
  });

  test('a value after a time-out is reported', async () => {
    const { effects, clock, problems } = setUp();
    const { work, finish } = createWork<string>();
    const pending = effects.run('a', work, { timeoutMs: 10 });
    await clock.advance(10);
    await pending;
    finish('too late');
    await turn();
    expect(problems).toMatchObject([{ error: { code: 'late-result' } }]);
  });

  test('a failure after an interruption is nobody’s news', async () => {
    const { effects, interrupt, problems } = setUp();
    const { work, fail } = createWork<string>();
    const pending = effects.run('a', work);
    interrupt('enough');
    await pending;
    fail(new Error('because it was cut off'));
    await turn();
    expect(problems).toStrictEqual([]);
  });

  test('a reporter that throws disturbs nobody', async () => {
    const unhandled: unknown[] = [];
    const hear = (error: unknown): void => void unhandled.push(error);
    process.on('unhandledRejection', hear);
    const { effects, interrupt } = setUp(() => {
      throw new Error('the reporter broke');
    });
    const { work, finish } = createWork<string>();
    const pending = effects.run('a', work);
    interrupt('enough');
    await pending;
    finish('too late');
    await turn();
    await turn();
    process.off('unhandledRejection', hear);
    expect(unhandled).toStrictEqual([]);
  });
});

describe('E4: what cannot be stored fails that call', () => {
  test('with the place and the way out', async () => {
    const result = await setUp().effects.run('a', () => ({ found: [new Map()] }), { failsAs: 'tool' });
    expect(result).toMatchObject({
      ok: false,
      kind: 'error',
      type: 'tool',
      code: 'unencodable-value',
      message:
        'The returned value cannot be stored: found[0] is a Map; turn it into an object or an array of entries. Return plain JSON data.',
    });
  });

  test('also if the work of an engine changed a copy of a value that is known', async () => {
    const known = markCanonical({ id: 1 });
    expect(await setUp().effects.run('a', () => known)).toEqual({ ok: true, value: known });
    expect(await setUp().effects.run('a', () => ({ ...known, found: new Set() }))).toMatchObject({ ok: false, code: 'unencodable-value' });
    expect(await setUp().effects.run('a', () => ({ ...known, at: new Date(0) }))).toMatchObject({
      ok: true,
      value: { id: 1, at: '1970-01-01T00:00:00.000Z' },
    });
  });
});

describe('signals and timers', () => {
  test('work with a time-out of its own hears of an interruption too, with the reason', async () => {
    const { effects, interrupt, clock } = setUp();
    let heard: unknown;
    const pending = effects.run(
      'a',
      (signal) => {
        signal.addEventListener('abort', () => (heard = signal.reason as unknown));
        return new Promise(() => undefined);
      },
      { timeoutMs: 1000 },
    );
    interrupt('enough');
    await pending;
    expect([heard, clock.pendingTimers()]).toStrictEqual(['enough', 0]);
  });

  test('a sleep that is begun after a request to stop does not sleep', async () => {
    const { effects, requestStop, clock } = setUp();
    requestStop();
    expect(await effects.sleep('s', 1000)).toMatchObject({ kind: 'cancelled' });
    expect(clock.pendingTimers()).toBe(0);
  });

  test('a request to stop leaves work alone', async () => {
    const { effects, requestStop } = setUp();
    const { work, finish } = createWork<string>();
    const pending = effects.run('a', work);
    requestStop();
    finish('whole');
    expect(await pending).toStrictEqual({ ok: true, value: 'whole' });
  });

  test('a value that is there at once counts, even if the run is interrupted right after', async () => {
    const { effects, interrupt, problems } = setUp();
    const pending = effects.run('a', () => 'whole');
    interrupt('enough');
    expect([await pending, problems]).toStrictEqual([{ ok: true, value: 'whole' }, []]);
  });

  test('work that interrupts its own run is cancelled, and the value that it returns is reported', async () => {
    const { effects, interrupt, problems } = setUp();
    const pending = effects.run('a', () => {
      interrupt('enough');
      return 'too late';
    });
    expect(await pending).toMatchObject({ ok: false, kind: 'cancelled' });
    expect(problems).toMatchObject([{ error: { code: 'late-result' } }]);
  });

  test('a value that can be awaited is awaited, even if it is a function', async () => {
    // Holds: whatever has a `then` can be awaited; its type is not that of a promise.
    const thenable = Object.assign(() => 'not called', { then: (resolve: (value: string) => void) => resolve('awaited') });
    const result = await setUp().effects.run('a', () => thenable as unknown as Promise<string>);
    expect(result).toStrictEqual({ ok: true, value: 'awaited' });
  });

  test('work that returns at once takes one promise', async () => {
    const { effects } = setUp();
    let promises = 0;
    const hook = createHook({ init: (_, type) => (promises += type === 'PROMISE' ? 1 : 0) }).enable();
    const pending = effects.run('a', () => 'whole');
    hook.disable();
    expect([await pending, promises]).toStrictEqual([{ ok: true, value: 'whole' }, 1]);
  });

  test('a timer of work that returns at once is cancelled', async () => {
    const { effects, clock } = setUp();
    await effects.run('a', () => 'whole', { timeoutMs: 1000 });
    expect(clock.pendingTimers()).toBe(0);
  });

  test('an interruption cancels what is open, in whatever order others have ended', async () => {
    const { effects, interrupt, countListeners } = setUp();
    const works = Array.from({ length: 5 }, () => createWork<string>());
    const results = works.map(({ work }, index) => effects.run(`work ${index}`, work));
    for (const index of [0, 3]) works[index]?.finish(`value ${index}`);
    await turn();
    expect(countListeners()).toBe(1);
    interrupt('over');
    expect((await Promise.all(results)).map(({ ok }) => ok)).toStrictEqual([true, false, false, true, false]);
  });

  test('many effects at once settle each for itself', async () => {
    const { effects } = setUp();
    const results = await Promise.all([1, 2, 3].map((value) => effects.run(`e/${value}`, () => value)));
    expect(results).toStrictEqual([1, 2, 3].map((value) => ({ ok: true, value })));
  });
});
