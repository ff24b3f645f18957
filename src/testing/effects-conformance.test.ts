import type { EffectFailure, Effects } from '../effects/index.ts';
import { createDirectEffects } from '../effects/index.ts';
import { describe, expect, test } from 'vitest';
import type { EffectsSurroundings } from './effects-conformance.ts';
import { effectsConformance } from './effects-conformance.ts';

const direct = ({ clock, control }: EffectsSurroundings): Effects => createDirectEffects({ clock, control, onProblem: () => undefined });

type Breaking = (whole: Effects, surroundings: EffectsSurroundings) => Partial<Effects>;
const failure: EffectFailure = { ok: false, kind: 'error', type: 'unknown', code: 'x', message: 'x', retryable: true };

/** True if the case fails; one that never ends has failed too. */
async function fails(name: string, breaking: Breaking): Promise<boolean> {
  const suite = effectsConformance((surroundings) => {
    const whole = direct(surroundings);
    return { ...whole, ...breaking(whole, surroundings) };
  });
  const found = suite.find((each) => each.name === name);
  if (found === undefined) throw new Error(`There is no case "${name}".`);
  const ended = Promise.resolve()
    .then(found.run)
    .then(
      () => false,
      () => true,
    );
  const stuck = new Promise<boolean>((resolve) => setTimeout(() => resolve(true), 50));
  return Promise.race([ended, stuck]);
}

const broken: readonly (readonly [string, Breaking])[] = [
  ['gives the value of the work', () => ({ run: () => Promise.resolve({ ok: true, value: null as never }) })],
  [
    'returns a thrown error as a classified failure',
    () => ({ run: async (_, work) => ({ ok: true, value: await work(AbortSignal.any([])) }) }),
  ],
  [
    'returns a synchronous throw the same way',
    () => ({ run: (_, work) => Promise.resolve({ ok: true, value: work(AbortSignal.any([])) as never }) }),
  ],
  ['gives canonical values only', () => ({ run: async (_, work) => ({ ok: true, value: await work(AbortSignal.any([])) }) })],
  [
    'fails the call where a value cannot be stored',
    () => ({ run: async (_, work) => ({ ok: true, value: await work(AbortSignal.any([])) }) }),
  ],
  [
    'settles at once when the run is interrupted, whatever the work does',
    () => ({ run: async (_, work) => ({ ok: true, value: await work(AbortSignal.any([])) }) }),
  ],
  [
    'does not begin work once the run is interrupted',
    (whole) => ({
      run: (key, work, options) => {
        void work(AbortSignal.any([]));
        return whole.run(key, work, options);
      },
    }),
  ],
  [
    'tells the work through its signal that it is interrupted',
    (whole) => ({ run: (key, work, options) => whole.run(key, () => work(AbortSignal.any([])), options) }),
  ],
  ['ends work at its time-out and aborts its signal', (whole) => ({ run: (key, work) => whole.run(key, work) })],
  [
    'leaves no timer behind when work ends before its time-out',
    (whole, { clock }) => ({
      run: (key, work, options) => {
        clock.schedule(options?.timeoutMs ?? 0, () => undefined);
        return whole.run(key, work, options);
      },
    }),
  ],
  ['sleeps on the given clock', () => ({ sleep: () => Promise.resolve({ ok: true, value: null }) })],
  [
    'wakes up at once when the run is asked to stop',
    (_, { clock }) => ({
      sleep: (_key, ms) => new Promise((resolve) => clock.schedule(ms, () => resolve({ ok: true, value: null }))),
    }),
  ],
];

describe('the suite of the Effects port', () => {
  test.each(broken)('"%s" fails where it is broken, and only there', async (name, breaking) => {
    expect([await fails(name, breaking), await fails(name, () => ({}))]).toStrictEqual([true, false]);
  });

  test('has an adapter that breaks it for every case', () => {
    expect(effectsConformance(direct).map(({ name }) => name)).toStrictEqual(broken.map(([name]) => name));
  });

  test('fails everywhere for effects that throw', async () => {
    const throwing: Breaking = () => ({
      run: () => {
        throw new Error('no effects');
      },
      sleep: () => Promise.reject(new Error('no effects')),
    });
    for (const [name] of broken) expect([name, await fails(name, throwing)]).toStrictEqual([name, true]);
  });

  test('says in words what was broken', async () => {
    const [first] = effectsConformance(() => ({ run: () => Promise.resolve(failure), sleep: () => Promise.resolve(failure) }));
    await expect(first?.run()).rejects.toMatchObject({
      code: 'conformance-failed',
      message: /^result: expected .*42.*, found .*"code":"x"/,
    });
  });
});
