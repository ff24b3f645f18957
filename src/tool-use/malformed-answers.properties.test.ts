// Whatever a model returns: the step fails and says why, or the state is one that can be stored and restored.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { pickRuns } from '../../tests/support/test-scale.ts';
import { ErrorPolicy } from '../errors/index.ts';
import type { Model } from '../inference/index.ts';
import { createCountingIds, createFakeClock } from '../lib/index.ts';
import { defineTool } from '../tools/index.ts';
import { ToolUse, ToolUseState } from './index.ts';

const numRuns = pickRuns({ quick: 300, slow: 10_000 });

/** Runs one step with a model that returns this, which need not be an outcome. */
async function runStep(returned: unknown, streaming = true): Promise<ToolUseState> {
  // Holds for the compiler only: what hand-written models return is what is tested.
  const answer = (): Promise<never> => Promise.resolve(returned as never);
  const model: Model = { provider: 'hand', modelId: 'written', generate: answer, stream: answer };
  const look = defineTool({ name: 'look', description: 'Looks.', input: z.looseObject({}), run: () => 'seen' });
  const ports = { clock: createFakeClock(), ids: createCountingIds(), onProblem: () => undefined };
  const agent = new ToolUse({ model, streaming, tools: [look], ports, errors: ErrorPolicy.stopOnAnyError(), limits: { steps: 1 } });
  return agent.run(ToolUseState.empty(ports).withUserMessage('Look.', ports));
}

const usage = { input: 3, output: 2, total: 5 };
const text = { type: 'text', text: 'Hello.' };
const call = { type: 'tool-call', toolCallId: 'call-1', toolName: 'look', args: {} };
const result = { type: 'tool-result', toolCallId: 'call-1', toolName: 'look', output: { type: 'text', value: 'seen' } };
const respond = (parts: unknown, rest: object = {}): object => ({ ok: true, response: { parts, usage, ...rest } });

describe('a malformed answer of a model', () => {
  const without = (part: object, key: string): object => Object.fromEntries(Object.entries(part).filter(([name]) => name !== key));
  const table: readonly (readonly [string, unknown, RegExp])[] = [
    ['nothing at all', undefined, /returned undefined/],
    ['an outcome without a response', { ok: true }, /response must be an object, found undefined/],
    ['text that is null', respond([{ type: 'text', text: null }]), /response\.parts\[0\]\.text must be a string, found null/],
    ['an unknown part', respond([text, { type: 'video', url: 'x' }]), /response\.parts\[1\]\.type must be one of .*, found "video"/],
    ['a part that is text', respond(['Hello.']), /response\.parts\[0\] must be an object, found "Hello\."/],
    ['parts that are not a list', respond('Hello.'), /response\.parts must be an array, found "Hello\."/],
    ['a call without an id', respond([without(call, 'toolCallId')]), /parts\[0\]\.toolCallId must be a string .*, found undefined/],
    ['a call with an empty id', respond([{ ...call, toolCallId: '' }]), /parts\[0\]\.toolCallId must be .*, found ""/],
    ['a call without arguments', respond([without(call, 'args')]), /parts\[0\]\.args must be a JSON value, found undefined/],
    ['arguments that are a function', respond([{ ...call, args: () => 1 }]), /parts\[0\]\.args must be a JSON value, found a function/],
    ['a result without an output', respond([call, without(result, 'output')]), /parts\[1\]\.output must be an object, found undefined/],
    ['a result of an unknown kind', respond([call, { ...result, output: { type: 'x' } }]), /parts\[1\]\.output\.type must be one of/],
    ['an image without data', respond([{ type: 'image' }]), /parts\[0\]\.data must be a string, unless "url" is given, found undefined/],
    ['metadata that is text', respond([{ ...text, providerMetadata: 'x' }]), /parts\[0\]\.providerMetadata must be an object, found "x"/],
    ['usage below zero', respond([text], { usage: { ...usage, input: -1 } }), /response\.usage\.input must be .*, found -1/],
    ['usage without end', respond([text], { usage: { ...usage, output: Infinity } }), /response\.usage\.output must be .*, found Infinity/],
    ['no usage', respond([text], { usage: undefined }), /response\.usage must be an object, found undefined/],
    ['a finish reason that is a number', respond([text], { finishReason: 7 }), /response\.finishReason must be a string, found 7/],
    ['a failure without a message', { ok: false, failure: { type: 'model', code: 'x', retryable: true } }, /failure\.message must be/],
    ['a failure of an unknown type', { ok: false, failure: { type: 'x' } }, /failure\.type must be one of .*, found "x"/],
  ];

  test.each(table)('fails the step and says what is wrong: %s', async (_, returned, problem) => {
    for (const streaming of [true, false]) {
      const end = await runStep(returned, streaming);
      expect([end.status, end.stopReason]).toStrictEqual(['failed', 'error']);
      expect(end.errors).toMatchObject([{ type: 'model', code: 'malformed-response', retryable: false }]);
      expect(end.errors[0]!.message).toMatch(problem);
      expect(end.errors[0]!.message).toContain('hand/written');
    }
  });

  test('counts what it cost, if that can be read', async () => {
    expect((await runStep(respond([{ type: 'text' }]))).usage).toMatchObject({ input: 3, output: 2 });
    expect((await runStep(respond([text], { usage: { ...usage, input: -1 } }))).usage).toMatchObject({ unknownCalls: 1 });
  });

  test('keeps a failure whose partial answer cannot be read', async () => {
    const failure = { type: 'rate_limit', code: 'busy', message: 'Too many requests.', retryable: true };
    expect((await runStep({ ok: false, failure, partial: { parts: [null] } })).errors).toMatchObject([failure]);
  });

  test('loses fields that nobody knows, and nothing else', async () => {
    const end = await runStep(respond([{ ...text, mood: 'fine', providerMetadata: null }], { usage: { ...usage, total: 99, spare: 1 } }));
    expect([end.status, end.text, end.usage]).toStrictEqual(['completed', 'Hello.', usage]);
    expect(end.messages.toArray().at(-1)!.parts).toStrictEqual([text]);
  });
});

const junk = fc.oneof(
  fc.anything({ withDate: true, withBigInt: true, withMap: true, withNullPrototype: true, withTypedArray: true, withSparseArray: true }),
  fc.constantFrom<unknown>(undefined, null, '', 0, -1, Number.NaN, Number.POSITIVE_INFINITY, 1e308, [], {}, () => 1, Symbol('x'), '\ud800'),
  fc.constantFrom<unknown>(
    { toJSON: () => undefined },
    { toJSON: () => 'text' },
    new Date(Number.NaN),
    Object.create({ type: 'text', text: 'x' }),
  ),
);
const orJunk = <Value>(value: Value): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(value) }, { weight: 1, arbitrary: junk });

/** An object with these fields, of which some are junk, missing or not known. */
const withJunk = (fields: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.record(fields) },
    { weight: 3, arbitrary: fc.record(fields, { requiredKeys: [] }) },
    { weight: 2, arbitrary: fc.tuple(fc.record(fields), fc.string(), junk).map(([known, key, value]) => ({ ...known, [key]: value })) },
    { weight: 1, arbitrary: junk },
  );

const metadata = fc.option(orJunk({ hand: { signature: 'x' } }), { nil: undefined });
const id = fc.oneof(fc.constantFrom('call-1', 'call-2', '__proto__'), orJunk('call-3'));
const flag = fc.option(orJunk(true), { nil: undefined });
const content = fc.oneof(
  withJunk({ type: fc.constant('text'), text: orJunk('Hello.'), providerMetadata: metadata }),
  withJunk({ type: fc.constant('image'), data: orJunk('AAAA'), mediaType: orJunk('image/png') }),
  withJunk({ type: fc.constant('image'), url: orJunk('https://x.test'), data: fc.option(orJunk('AAAA'), { nil: undefined }) }),
  withJunk({ type: fc.constant('file'), mediaType: orJunk('text/plain'), id: orJunk('file-1'), filename: orJunk('a.txt') }),
);
const output = fc.oneof(
  withJunk({ type: fc.constantFrom('text', 'error'), value: orJunk('seen') }),
  withJunk({ type: fc.constant('json'), value: fc.oneof(fc.jsonValue(), junk) }),
  withJunk({ type: fc.constant('content'), parts: fc.oneof(fc.array(content, { maxLength: 2 }), junk) }),
  withJunk({ type: fc.constant('rejected'), reason: orJunk('no') }),
);
const part = fc.oneof(
  content,
  withJunk({ type: fc.constant('reasoning'), text: orJunk('Hm.'), providerMetadata: metadata }),
  withJunk({
    type: fc.constant('tool-call'),
    toolCallId: id,
    toolName: orJunk('look'),
    args: fc.oneof(fc.jsonValue(), junk),
    rawArgs: fc.option(orJunk('{'), { nil: undefined }),
    providerExecuted: flag,
    providerMetadata: metadata,
  }),
  withJunk({ type: fc.constant('tool-result'), toolCallId: id, toolName: orJunk('look'), output, providerExecuted: flag }),
  withJunk({ type: fc.constant('source'), sourceType: orJunk('url'), id: orJunk('1'), url: orJunk('https://x.test'), title: orJunk('X') }),
  withJunk({ type: fc.constant('provider'), provider: orJunk('hand'), data: fc.oneof(fc.jsonValue(), junk) }),
);
const count = fc.oneof(fc.nat(), fc.double(), junk);
const response = withJunk({
  parts: fc.oneof({ weight: 9, arbitrary: fc.array(part, { maxLength: 4 }) }, { weight: 1, arbitrary: junk }),
  usage: fc.oneof(fc.constant(usage), withJunk({ input: count, output: count, total: count, cacheRead: count, reasoning: count })),
  finishReason: fc.option(orJunk('stop'), { nil: undefined }),
  modelId: fc.option(orJunk('other'), { nil: undefined }),
  provider: fc.option(orJunk('hand'), { nil: undefined }),
  providerMetadata: metadata,
});
const failure = withJunk({
  type: orJunk('model'),
  code: orJunk('x'),
  message: orJunk('No.'),
  retryable: orJunk(true),
  retryAfterMs: fc.option(orJunk(5), { nil: undefined }),
});
const outcome = fc.oneof(
  { weight: 8, arbitrary: withJunk({ ok: fc.constant(true), response }) },
  { weight: 2, arbitrary: withJunk({ ok: fc.constant(false), failure, partial: response }) },
);

test('whatever a model returns, the state can be stored and comes back equal', async () => {
  await fc.assert(
    fc.asyncProperty(outcome, async (returned) => {
      const end = await runStep(returned);
      const stored: unknown = JSON.parse(JSON.stringify(end));
      const restored = ToolUseState.fromJSON(stored);
      expect(JSON.parse(JSON.stringify(restored))).toStrictEqual(stored);
      expect(restored.steps).toStrictEqual(end.steps);
      expect(restored.messages.toArray().map((message) => message.toJSON())).toStrictEqual(
        end.messages.toArray().map((message) => message.toJSON()),
      );
      expect([restored.status, restored.usage, restored.waitingFor]).toStrictEqual([end.status, end.usage, end.waitingFor]);
    }),
    { numRuns },
  );
});
