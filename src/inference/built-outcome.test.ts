import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../lib/index.ts';
import { getKnownForm, toCanonical } from '../lib/index.ts';
import { Message } from '../messages/index.ts';
import type { ModelOutcome } from './model.ts';
import { parseOutcome } from './parse-outcome.ts';
import type { ResponseBuilder } from './response-builder.ts';
import { createResponseBuilder } from './response-builder.ts';

const model = { provider: 'test', modelId: 'test' };

function build(fill: (builder: ResponseBuilder) => void): ModelOutcome {
  const builder = createResponseBuilder({ request: {} });
  fill(builder);
  builder.finish('stop');
  return builder.outcome();
}

const isBuilt = (outcome: ModelOutcome): boolean => getKnownForm(outcome) === 'model-outcome';

const isFrozenThrough = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozenThrough));

describe('an answer that the builder made', () => {
  test('is what a full check makes of its copy, and cannot be changed', () => {
    const count = fc.oneof(fc.nat(), fc.constantFrom(-0, -1, 0.5, Number.NaN, Infinity, 2 ** 53, 1e300));
    const call = fc.record({ id: fc.string(), name: fc.string(), input: fc.oneof(fc.json(), fc.string(), fc.constant('')) });
    const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constantFrom('\uD800', 'a\0b'));
    const calls = fc.array(call, { maxLength: 4 });
    const counts = fc.array(count, { minLength: 5, maxLength: 5 });
    // Holds: JSON values are metadata of a provider.
    const metadata = fc.option(fc.dictionary(fc.string(), fc.jsonValue()), { nil: undefined }) as fc.Arbitrary<JsonObject | undefined>;
    let built = 0;
    fc.assert(
      fc.property(calls, text, counts, metadata, (calls, said, counts, metadata) => {
        const [input, output, cacheRead, cacheWrite, reasoning] = counts;
        const outcome = build((builder) => {
          builder.text(said, '1', metadata);
          for (const each of calls) builder.toolCall({ ...each, providerMetadata: metadata });
          builder.usage({ input, output, cacheRead, cacheWrite, reasoning });
        });
        if (!isBuilt(outcome)) return;
        built += 1;
        expect(isFrozenThrough(outcome)).toBe(true);
        expect(parseOutcome(outcome, model)).toBe(outcome);
        const copy = structuredClone(outcome);
        expect(toCanonical(copy)).toEqual({ ok: true, value: outcome });
        expect(toCanonical(copy)).toMatchObject({ value: copy });
        expect(parseOutcome(copy, model)).toEqual(outcome);
      }),
    );
    expect(built).toBeGreaterThan(10);
  });

  test('with text and calls alone is not checked again', () => {
    expect(isBuilt(build((builder) => builder.text('Hello.')))).toBe(true);
    expect(isBuilt(build((builder) => builder.toolCall({ id: 'a', name: 'look', input: '{"id":1}' })))).toBe(true);
    expect(isBuilt(build((builder) => builder.toolCall({ id: 'a', name: 'look' })))).toBe(true);
  });

  test.each<[string, (builder: ResponseBuilder) => void]>([
    ['arguments as a value', (builder) => builder.toolCall({ id: 'a', name: 'look', input: { id: 1 } })],
    // Holds: JavaScript callers can pass anything.
    ['metadata that is not an object', (builder) => builder.facts({ providerMetadata: new Date(0) as never })],
    ['a part of its own', (builder) => builder.part({ type: 'source', sourceType: 'url', id: 's', url: 'https://example.com' })],
  ])('that holds an object of the provider is checked, and the object stays open: %s', (_, fill) => {
    const outcome = build((builder) => {
      builder.text('Hello.');
      fill(builder);
    });
    expect(outcome.ok).toBe(true);
    expect(isBuilt(outcome)).toBe(false);
    expect(Object.isFrozen(outcome)).toBe(false);
  });

  test.each<[string, (builder: ResponseBuilder) => void]>([
    ['text', (builder) => builder.text('x'.repeat(1_000_001))],
    ['arguments', (builder) => builder.toolCall({ id: 'a', name: 'look', input: JSON.stringify(['x'.repeat(1_000_001)]) })],
    ['metadata', (builder) => builder.text('Hello.', '1', { test: { text: '\u20AC'.repeat(333_334) } })],
    ['arguments that are not JSON', (builder) => builder.toolCall({ id: 'a', name: 'look', input: 'x'.repeat(1_000_001) })],
  ])('is left to the check that refuses it if it is too large: %s', (_, fill) => {
    const outcome = build(fill);
    expect(isBuilt(outcome)).toBe(false);
    expect(toCanonical(outcome)).toMatchObject({ ok: false, isTooLarge: true });
  });

  test.each<[string, (builder: ResponseBuilder, providerMetadata: JsonObject) => void]>([
    ['of a call', (builder, providerMetadata) => builder.toolCall({ id: 'a', name: 'look', input: '{}', providerMetadata })],
    ['of a text', (builder, providerMetadata) => builder.text('Hello.', '1', providerMetadata)],
    ['of the answer', (builder, providerMetadata) => builder.facts({ providerMetadata })],
  ])('holds a copy of metadata, which is not checked again, and leaves the provider its own: %s', (_, fill) => {
    const metadata = { test: { ids: [1] } };
    const outcome = build((builder) => {
      builder.text('Hello.');
      fill(builder, metadata);
    });
    expect(isBuilt(outcome)).toBe(true);
    expect(isFrozenThrough(outcome)).toBe(true);
    const before = JSON.stringify(outcome);
    expect(before).toContain('{"test":{"ids":[1]}}');
    metadata.test.ids.push(2);
    expect(JSON.stringify(outcome)).toBe(before);
  });

  test('gives its parts to a message as they are, and a list of the same parts is copied', () => {
    const outcome = build((builder) => builder.toolCall({ id: 'a', name: 'look', input: '{"id":1}' }));
    if (!outcome.ok) throw new Error('expected an answer');
    const { parts } = outcome.response;
    expect(Message.assistant(parts).parts).toBe(parts);
    const copy = Object.freeze([...parts]);
    expect(Message.assistant(copy).parts).not.toBe(copy);
    expect(Message.assistant(copy)).toMatchObject({ parts });
  });

  test('is checked if a model changed a copy of it', () => {
    const outcome = build((builder) => builder.text('Hello.'));
    if (!outcome.ok) throw new Error('expected an answer');
    const changed = { ...outcome, response: { ...outcome.response, parts: 'none' } };
    expect(parseOutcome(changed, model)).toMatchObject({ ok: false, failure: { code: 'malformed-response' } });
  });
});
