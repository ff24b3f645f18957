import type { Effects } from '../effects/index.ts';
import type { FakeClock } from '../lib/index.ts';
import { createFakeClock } from '../lib/index.ts';
import { RateLimitedError } from '../errors/index.ts';
import type { RunControl } from '../step-by-step/index.ts';
import { createRunControl } from '../step-by-step/index.ts';
import type { ConformanceCase } from './conformance.ts';
import { holds, same, storable } from './conformance.ts';

/** Services that the suite provides to make effects from. */
export interface EffectsSurroundings {
  readonly clock: FakeClock;
  readonly control: RunControl;
}

type Check = (effects: Effects, surroundings: EffectsSurroundings) => Promise<void>;

const forever = (): Promise<never> => new Promise(() => undefined);

const checks: Readonly<Record<string, Check>> = {
  'gives the value of the work': async (effects) => {
    same(await effects.run('a', () => ({ answer: 42 })), { ok: true, value: { answer: 42 } }, 'result');
  },
  'returns a thrown error as a classified failure': async (effects) => {
    const result = await effects.run('a', () => Promise.reject(new RateLimitedError('slow down', { retryAfterMs: 5 })));
    holds(!result.ok, 'the failure was lost');
    same([result.kind, result.type, result.retryAfterMs], ['error', 'rate_limit', 5], 'failure');
  },
  'returns a synchronous throw the same way': async (effects) => {
    const result = await effects.run('a', () => {
      throw new Error('at once');
    });
    holds(!result.ok && result.kind === 'error' && result.message === 'at once', 'the throw was lost');
  },
  'gives canonical values only': async (effects) => {
    const result = await effects.run('a', () => ({ at: new Date(0), none: undefined, nan: Number.NaN }));
    same(result, { ok: true, value: { at: '1970-01-01T00:00:00.000Z', nan: null } }, 'result');
    storable(result.ok && result.value, 'the value');
  },
  'fails the call where a value cannot be stored': async (effects) => {
    const result = await effects.run('a', () => new Map());
    holds(!result.ok && result.code === 'unencodable-value', 'a Map was let through');
  },
  'settles at once when the run is interrupted, whatever the work does': async (effects, { control }) => {
    const pending = effects.run('a', forever);
    control.interrupt('signal', new Error('enough'));
    const result = await pending;
    holds(!result.ok && result.kind === 'cancelled', 'the work was waited for');
  },
  'does not begin work once the run is interrupted': async (effects, { control }) => {
    const begun: string[] = [];
    control.interrupt('signal', new Error('enough'));
    const result = await effects.run('a', () => begun.push('a'));
    holds(begun.length === 0 && !result.ok && result.kind === 'cancelled', 'the work was begun');
  },
  'tells the work through its signal that it is interrupted': async (effects, { control }) => {
    let pending: Promise<unknown> | undefined;
    // An engine may have to store something before the work starts.
    const signal = await new Promise<AbortSignal>((resolve) => {
      pending = effects.run('a', (own) => {
        resolve(own);
        return forever();
      });
    });
    control.interrupt('signal', new Error('enough'));
    await pending;
    holds(signal.aborted, 'the signal did not abort');
  },
  'ends work at its time-out and aborts its signal': async (effects, { clock }) => {
    let used: AbortSignal | undefined;
    const work = (signal: AbortSignal): Promise<never> => {
      used = signal;
      return forever();
    };
    const pending = effects.run('a', work, { timeoutMs: 100 });
    await clock.advance(100);
    const result = await pending;
    holds(!result.ok && result.kind === 'timeout' && result.type === 'timeout', 'the time-out did not end it');
    holds(used?.aborted === true, 'the signal did not abort');
  },
  'leaves no timer behind when work ends before its time-out': async (effects, { clock }) => {
    await effects.run('a', () => 1, { timeoutMs: 1000 });
    same(clock.pendingTimers(), 0, 'timers left');
  },
  'sleeps on the given clock': async (effects, { clock }) => {
    let awake = false;
    const sleeping = effects.sleep('s', 1000);
    sleeping.then(
      () => (awake = true),
      () => undefined,
    );
    await clock.advance(999);
    holds(!awake, 'woke up too early');
    await clock.advance(1);
    await sleeping;
  },
  'wakes up at once when the run is asked to stop': async (effects, { clock, control }) => {
    const sleeping = effects.sleep('s', 1000);
    control.requestStop('enough');
    const result = await sleeping;
    holds(!result.ok && result.kind === 'cancelled' && clock.pendingTimers() === 0, 'slept on');
  },
};

/** Promises that every implementation of the Effects port must keep. */
export function effectsConformance(make: (surroundings: EffectsSurroundings) => Effects): readonly ConformanceCase[] {
  return Object.entries(checks).map(([name, check]) => ({
    name,
    run: async () => {
      const surroundings = { clock: createFakeClock(), control: createRunControl() };
      await check(make(surroundings), surroundings);
    },
  }));
}
