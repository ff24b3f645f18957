// Whatever a provider sends, in whatever order: the builder never throws, keeps every call, and explains what it could not read.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pickRuns } from '../../tests/support/test-scale.ts';
import { createCountingIds, toCanonical } from '../lib/index.ts';
import type { ModelDelta, ModelRequest } from './model.ts';
import type { ResponseBuilder } from './response-builder.ts';
import { createResponseBuilder } from './response-builder.ts';

// The slow test runs the same properties many times over.
const numRuns = pickRuns({ quick: 200, slow: 50_000 });

type Event = readonly [call: (builder: ResponseBuilder) => void, calls: number];

const id = fc.constantFrom('', 'a', 'b', 'c', '__proto__', 'constructor', '\ud800', '\ud801', 'a\0');
const name = fc.constantFrom('search', '', '__proto__', 'tool\ud83d');
const odd = fc.constantFrom(
  '{',
  '{"a":',
  '{"a":1,}',
  '{"a":NaN}',
  '{"__proto__":{"x":1}}',
  '"\\ud800"',
  '[[[[',
  '{"a":1}{"b":2}',
  '',
  ' ',
  'null',
  '\u0000',
  '```json',
);
const deep = fc.integer({ min: 1, max: 300 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth));
const input: fc.Arbitrary<unknown> = fc.oneof(
  odd,
  deep,
  fc.json(),
  fc.json().map((text) => text.slice(0, -1)),
  fc.string({ unit: 'binary' }),
  fc.jsonValue(),
  fc.constantFrom(Number.NaN, undefined, null, new Map(), 10n, { at: Number.POSITIVE_INFINITY }),
);
const piece = fc.oneof(fc.string(), odd, fc.constantFrom('<think>', '</think>', '<th', 'ink>', '{"a":1}', '\ud83d'));
const metadata = fc.constantFrom(undefined, { provider: { signature: 'x' } }, { bytes: new Uint8Array(1) } as never);

const event: fc.Arbitrary<Event> = fc.oneof(
  fc.tuple(piece, fc.option(id, { nil: undefined }), metadata).map(([text, of, extra]): Event => [
    (b) => {
      b.text(text, of, extra);
    },
    0,
  ]),
  fc.tuple(piece, fc.option(id, { nil: undefined }), metadata).map(([text, of, extra]): Event => [
    (b) => {
      b.reasoning(text, of, extra);
    },
    0,
  ]),
  id.map((of): Event => [
    (b) => {
      b.textEnd(of);
    },
    0,
  ]),
  fc.tuple(id, name).map(([of, called]): Event => [
    (b) => {
      b.toolInputStart(of, called);
      b.toolCall({ id: of, name: called });
    },
    1,
  ]),
  fc.tuple(id, piece).map(([of, text]): Event => [
    (b) => {
      b.toolInputDelta(of, text);
      b.toolInputEnd(of);
      b.toolCall({ id: of, name: 'x' });
    },
    1,
  ]),
  fc.tuple(id, name, input).map(([of, called, given]): Event => [
    (b) => {
      b.toolCall({ id: of, name: called, input: given });
    },
    1,
  ]),
  fc.tuple(id).map(([of]): Event => [
    (b) => {
      b.toolResult({ toolCallId: of, toolName: 'x', output: { type: 'text', value: '\ud800' } });
    },
    0,
  ]),
  fc.constantFrom(Number.NaN, -1, 5, Number.POSITIVE_INFINITY).map((count): Event => [
    (b) => {
      b.usage({ input: count, output: count });
    },
    0,
  ]),
);

const plan = fc.record({
  events: fc.array(event, { maxLength: 12 }),
  finish: fc.constantFrom('stop', 'tool-calls', 'length', 'interrupted', 'error', 'strange', 'refusal', undefined),
  hasTools: fc.boolean(),
});

test('never throws, keeps every call under an id of its own, and explains what it could not read', () => {
  fc.assert(
    fc.property(plan, ({ events, finish, hasTools }) => {
      const deltas: ModelDelta[] = [];
      const request: Pick<ModelRequest, 'tools'> = hasTools ? { tools: [{ name: 'x', description: '', inputSchema: {} }] } : {};
      const builder = createResponseBuilder({ ids: createCountingIds(), request, onDelta: (delta) => deltas.push(delta) });
      for (const [call] of events) call(builder);
      if (finish !== undefined) builder.finish(finish);
      const outcome = builder.outcome();
      const response = outcome.ok ? outcome.response : outcome.partial;

      const calls = response.parts.filter((part) => part.type === 'tool-call');
      const ids = calls.map(({ toolCallId }) => toolCallId);
      expect(calls).toHaveLength(events.reduce((sum, [, count]) => sum + count, 0));
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids).not.toContain('');
      // The kept parts are canonical by itself, and can be stored.
      const canonical = toCanonical(outcome);
      expect(canonical.ok && canonical.value).toBe(outcome);
      // Nothing succeeds without a finish or without content.
      if (finish === undefined || finish === 'interrupted' || finish === 'error') expect(outcome.ok).toBe(false);
      if (outcome.ok && finish !== 'refusal') expect(response.parts.some(({ type }) => type !== 'reasoning')).toBe(true);
      // The deltas are what is kept (A2).
      const joinKept = (type: 'text' | 'reasoning'): string => response.parts.map((part) => (part.type === type ? part.text : '')).join('');
      const joinDeltas = (type: 'text' | 'reasoning'): string => deltas.map((delta) => (delta.type === type ? delta.text : '')).join('');
      // Parts of several ids may be emitted in another order than they are kept in, and broken pairs are mended per part.
      const units = (text: string): string => [...text.replaceAll(/[\p{Surrogate}\uFFFD\0\u{10000}-\u{10FFFF}]/gu, '')].sort().join('');
      expect(units(joinDeltas('reasoning'))).toBe(units(joinKept('reasoning')));
      expect(units(joinDeltas('text'))).toBe(units(joinKept('text')));
    }),
    { numRuns },
  );
});

test('arguments are parsed, or kept word for word', () => {
  fc.assert(
    fc.property(fc.oneof(odd, deep, fc.json(), fc.string({ unit: 'binary' })), (text) => {
      const builder = createResponseBuilder({ ids: createCountingIds() });
      builder.toolCall({ id: 'a', name: 'x', input: text });
      builder.finish('tool-calls');
      const outcome = builder.outcome();
      const part = outcome.ok ? outcome.response.parts[0] : undefined;
      if (part?.type !== 'tool-call') throw new Error('the call was lost');
      if (part.rawArgs === undefined)
        expect(part.args).toStrictEqual(
          toCanonical(JSON.parse(text.trim() === '' ? '{}' : text) as unknown).ok ? parseCanonical(text) : null,
        );
      else expect([part.args, part.rawArgs.length]).toStrictEqual([null, text.length]);
    }),
    { numRuns },
  );
});

function parseCanonical(text: string): unknown {
  const canonical = toCanonical(text.trim() === '' ? {} : (JSON.parse(text) as unknown));
  return canonical.ok ? canonical.value : undefined;
}

test('ten thousand calls, half of them under one id, are ten thousand calls', () => {
  const builder = createResponseBuilder({ ids: createCountingIds() });
  for (let index = 0; index < 10_000; index += 1)
    builder.toolCall({ id: index % 2 === 0 ? 'same' : `own-${index}`, name: 'x', input: '{"q":' });
  builder.finish('tool-calls');
  const outcome = builder.outcome();
  expect(outcome.ok && new Set(outcome.response.parts.map((part) => (part.type === 'tool-call' ? part.toolCallId : ''))).size).toBe(10_000);
});

test('arguments of ten megabytes, in a hundred thousand pieces, are put together', () => {
  const builder = createResponseBuilder({ ids: createCountingIds() });
  builder.toolInputStart('a', 'x');
  builder.toolInputDelta('a', '["');
  for (let index = 0; index < 100_000; index += 1) builder.toolInputDelta('a', 'x'.repeat(100));
  builder.toolInputDelta('a', '"]');
  builder.toolCall({ id: 'a', name: 'x' });
  builder.finish('tool-calls');
  const outcome = builder.outcome();
  const part = outcome.ok ? outcome.response.parts[0] : undefined;
  expect(part?.type === 'tool-call' && JSON.stringify(part.args).length).toBe(10_000_004);
});
