import type { EffectOptions, EffectResult, Effects } from '../effects/index.ts';
import { createDirectEffects } from '../effects/index.ts';
import { describe, expect, test } from 'vitest';
import { createFakeClock } from '../lib/index.ts';
import { createRunControl } from '../step-by-step/index.ts';
import { effectsConformance } from '../testing/index.ts';
import type { EffectRow } from './journal.ts';
import { Journal } from './journal.ts';

const surroundings = () => ({ clock: createFakeClock(), control: createRunControl(), onProblem: () => undefined });

/** A journal over a list of rows, as a store would keep them. */
function open(rows: EffectRow[] = []): { readonly rows: EffectRow[]; readonly journal: Journal; readonly effects: Effects } {
  const journal = new Journal([...rows], (more) => {
    rows.push(...more);
    return Promise.resolve();
  });
  return { rows, journal, effects: journal.wrap(createDirectEffects(surroundings())) };
}

describe('journaled effects keep the promises of effects', () => {
  for (const { name, run } of effectsConformance((given) => {
    const journal = new Journal([], () => Promise.resolve());
    return journal.wrap(createDirectEffects({ ...given, onProblem: () => undefined }));
  }))
    test(name, run);
});

test('J1: what was done once is not done again, whoever opens the journal', async () => {
  const first = open();
  const done: string[] = [];
  const work = () => (done.push('work'), { answer: 42 });
  const result = await first.effects.run('tool/1/0', work);
  expect(await first.effects.run('tool/1/0', work)).toStrictEqual(result);
  expect(await open(first.rows).effects.run('tool/1/0', work)).toStrictEqual(result);
  expect([done, result]).toStrictEqual([['work'], { ok: true, value: { answer: 42 } }]);
});

test('a failure is a result too: it is given again, not tried again', async () => {
  const first = open();
  const failed = await first.effects.run('a', () => Promise.reject(new Error('no')));
  const again = await open(first.rows).effects.run('a', () => 'yes');
  expect(again).toStrictEqual(failed);
});

describe('J2: work that was begun and has no result', () => {
  const begun: EffectRow[] = [{ key: 'a', phase: 'intent', body: '{}' }];
  const rerun = async (effect: EffectOptions['effect']): Promise<readonly [boolean, EffectResult<string>]> => {
    let ran = false;
    const options = effect === undefined ? {} : { effect };
    const result = await open([...begun]).effects.run('a', () => ((ran = true), 'done'), options);
    return [ran, result];
  };

  test.each(['once', undefined] as const)('of class %s is not begun again: its end is unknown', async (effect) => {
    const [ran, result] = await rerun(effect);
    expect(ran).toBe(false);
    expect(result).toMatchObject({ ok: false, kind: 'unknown', code: 'unknown-end', retryable: false });
  });
  test.each(['idempotent', 'pure'] as const)('of class %s is done again', async (effect) => {
    expect(await rerun(effect)).toStrictEqual([true, { ok: true, value: 'done' }]);
  });
});

test.each([
  ['once', ['intent']],
  ['idempotent', ['intent']],
  ['pure', []],
] as const)('J3: before work of class %s begins, these rows are safe: %j', async (effect, phases) => {
  const { effects, rows } = open();
  let seen: readonly string[] = [];
  await effects.run('a', () => (seen = rows.map(({ phase }) => phase)), { effect });
  expect(seen).toStrictEqual(phases);
});

test('what was cut off leaves no result behind', async () => {
  const { control, ...rest } = surroundings();
  const rows: EffectRow[] = [];
  const journal = new Journal([], (more) => (rows.push(...more), Promise.resolve()));
  const effects = journal.wrap(createDirectEffects({ control, ...rest }));
  const running = effects.run('a', () => new Promise(() => undefined), { effect: 'pure' });
  await Promise.resolve();
  control.interrupt('signal', new Error('enough'));
  expect(await running).toMatchObject({ kind: 'cancelled' });
  expect(rows).toStrictEqual([]);
});

describe('J4: where the store fails', () => {
  const failing = () => {
    const journal = new Journal([], () => Promise.reject(new Error('the disk is full')));
    return { journal, effects: journal.wrap(createDirectEffects(surroundings())) };
  };

  test('before work begins, it does not begin, and nothing after it', async () => {
    const { journal, effects } = failing();
    const done: string[] = [];
    await expect(effects.run('a', () => done.push('a'))).rejects.toThrow('the disk is full');
    await expect(effects.run('b', () => done.push('b'), { effect: 'pure' })).rejects.toThrow('the disk is full');
    expect(done).toStrictEqual([]);
    expect(() => journal.check()).toThrow('the disk is full');
  });

  test('after work was done, the step is not recorded', async () => {
    const { journal, effects } = failing();
    await effects.run('a', () => 'done', { effect: 'pure' });
    await Promise.resolve();
    expect(() => journal.check()).toThrow('the disk is full');
  });
});

describe('J5: what an earlier process has done', () => {
  const rows = async (): Promise<EffectRow[]> => {
    const first = open();
    await first.effects.run('tool/1/0', () => 'paid');
    await first.effects.run('nested/1/1/1/tool/1/0', () => 'paid');
    return [...first.rows, { key: 'tool/1/2', phase: 'intent', body: '{}' }];
  };

  test('can be read without starting anything, as often as somebody asks', async () => {
    const { effects, rows: written } = open(await rows());
    const before = [...written];
    for (let time = 0; time < 2; time += 1) {
      expect(effects.recall?.('tool/1/0')).toStrictEqual({ ok: true, value: 'paid' });
      // Work inside it had begun, and the work as a whole has no result.
      expect(effects.recall?.('nested/1/1')).toMatchObject({ ok: false, kind: 'unknown' });
      expect(effects.recall?.('tool/1/2')).toMatchObject({ ok: false, kind: 'unknown' });
      expect([effects.recall?.('tool/1/3'), effects.recall?.('tool/1')?.ok, effects.recall?.('ool/1/0')]).toStrictEqual([
        undefined,
        false,
        undefined,
      ]);
    }
    expect(written).toStrictEqual(before);
  });

  test('is no news once it was given again, or the step is over', async () => {
    const { effects, journal } = open(await rows());
    await effects.run('tool/1/0', () => 'again');
    expect(effects.recall?.('tool/1/0')).toBeUndefined();
    journal.clear();
    expect(effects.recall?.('tool/1/2')).toBeUndefined();
  });

  test('is not what this process did', async () => {
    const { effects } = open();
    await effects.run('tool/1/0', () => 'paid');
    expect(effects.recall?.('tool/1/0')).toBeUndefined();
  });
});
