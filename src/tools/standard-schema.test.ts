import { describe, expect, it } from 'vitest';
import { fromStandardResult, hasJsonForm, isStandardSchema } from './standard-schema.ts';

const props = { version: 1, vendor: 'own', validate: (value: unknown) => ({ value }) };

describe('isStandardSchema', () => {
  it('knows objects and functions that carry the standard', () => {
    expect(isStandardSchema({ '~standard': props })).toBe(true);
    expect(isStandardSchema(Object.assign(() => undefined, { '~standard': props }))).toBe(true);
  });

  it.each([
    undefined,
    null,
    1,
    'text',
    {},
    [],
    { '~standard': 1 },
    { '~standard': { ...props, version: 2 } },
    { '~standard': { version: 1 } },
  ])('does not take %j for one', (value) => {
    expect(isStandardSchema(value)).toBe(false);
  });
});

describe('hasJsonForm', () => {
  it('asks for the converter', () => {
    const plain = { '~standard': props } as const;
    if (!isStandardSchema(plain)) throw new Error('no schema');
    expect(hasJsonForm(plain)).toBe(false);
    expect(hasJsonForm({ '~standard': { ...plain['~standard'], jsonSchema: {} } } as never)).toBe(false);
    expect(hasJsonForm({ '~standard': { ...plain['~standard'], jsonSchema: { input: () => ({}) } } } as never)).toBe(true);
  });
});

describe('fromStandardResult', () => {
  it('gives the value where there are no issues', () => {
    expect(fromStandardResult({ value: 3 })).toEqual({ ok: true, value: 3 });
  });

  it('writes paths of any kind of key', () => {
    const issues = [{ message: 'bad', path: ['a', { key: 0 }, Symbol('s'), 'b c'] }, { message: 'all bad' }];
    expect(fromStandardResult({ issues })).toEqual({
      ok: false,
      issues: [
        { path: 'a[0]["Symbol(s)"]["b c"]', message: 'bad' },
        { path: '', message: 'all bad' },
      ],
    });
  });

  it('takes an empty list of issues for a refusal, as the standard says', () => {
    expect(fromStandardResult({ issues: [] })).toEqual({ ok: false, issues: [] });
  });

  it('takes no answer for a refusal', () => {
    expect(fromStandardResult(undefined as never)).toMatchObject({ ok: false });
  });
});
