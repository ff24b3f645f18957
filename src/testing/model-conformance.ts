import type { Model, ModelDelta, ModelOutcome, ModelRequest, ModelResponse } from '../inference/index.ts';
import { findPendingToolCalls } from '../inference/index.ts';
import { toCanonical } from '../lib/index.ts';
import type { Part } from '../messages/index.ts';
import { Message } from '../messages/index.ts';
import type { ConformanceCase } from './conformance.ts';
import { holds, same } from './conformance.ts';

/** Data that a provider sends, for a model under test to make an answer of. */
export interface StagedAnswer {
  /** Pieces of text, in their order. */
  readonly text?: readonly string[];
  /** Calls, with their arguments as the provider writes them. */
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args: string }[];
  /** Absent if the provider reports no tokens. */
  readonly usage?: { readonly input: number; readonly output: number };
  /** The ending; `error` is an error after all that, followed by a normal end if the protocol can express it. */
  readonly ending: 'finished' | 'refused' | 'breaks-off' | 'error' | 'rate-limited' | 'never';
  /** The wait that a `rate-limited` provider asks for. */
  readonly retryAfterMs?: number;
}

/** Makes a model whose provider sends the staged answer to every call; undefined if that cannot be staged. */
export type StageModel = (staged: StagedAnswer) => Model | undefined | Promise<Model | undefined>;

interface Answer {
  readonly outcome: ModelOutcome;
  readonly deltas: readonly ModelDelta[];
  readonly response: ModelResponse;
}

type Method = 'generate' | 'stream';
type Check = (answer: Answer, method: Method) => void;

async function ask(model: Model, method: Method, signal?: AbortSignal): Promise<Answer> {
  const deltas: ModelDelta[] = [];
  const request: ModelRequest = {
    messages: [Message.user('Say something.', { id: 'message-1' })],
    tools: [{ name: 'search', description: 'Searches.', inputSchema: { type: 'object' } }],
    ...(signal !== undefined && { signal }),
  };
  const outcome = await (method === 'generate' ? model.generate(request) : model.stream(request, (delta) => deltas.push(delta)));
  return { outcome, deltas, response: outcome.ok ? outcome.response : outcome.partial };
}

const joinText = (items: readonly (Part | ModelDelta)[]): string => items.map((item) => (item.type === 'text' ? item.text : '')).join('');

/** Checks that the call succeeds, and one fact about its answer. */
const succeeds =
  (read: (response: ModelResponse) => unknown, expected: unknown, name: string): Check =>
  ({ outcome }) => {
    holds(outcome.ok, outcome.ok ? '' : `it failed: ${outcome.failure.code}, ${outcome.failure.message}`);
    same(read(outcome.response), expected, name);
  };

/** Checks that the call fails, and fields of its failure. */
const fails =
  (expected: Readonly<Record<string, unknown>>): Check =>
  ({ outcome }) => {
    holds(!outcome.ok, 'it passed for a success');
    const found: Readonly<Record<string, unknown>> = { ...outcome.failure };
    for (const [key, value] of Object.entries(expected)) same(found[key], value, `the failure's ${key}`);
  };

/** Checks a text, if the answer is streamed. */
const streams =
  (read: (answer: Answer) => readonly (Part | ModelDelta)[], expected: string, name: string): Check =>
  (answer, method) => {
    if (method === 'stream') same(joinText(read(answer)), expected, name);
  };

const call = (id: string, args: string): NonNullable<StagedAnswer['calls']>[number] => ({ id, name: 'search', args });

const checks: readonly (readonly [name: string, staged: StagedAnswer, ...checks: readonly Check[]])[] = [
  [
    'gives what was said, and tells all of it piece by piece',
    { text: ['Hel', 'lo, ', 'world.'], ending: 'finished', usage: { input: 3, output: 2 } },
    succeeds(({ parts }) => joinText(parts), 'Hello, world.', 'text'),
    streams(({ deltas }) => deltas, 'Hello, world.', 'text that was told'),
  ],
  [
    'gives plain JSON data (M1)',
    { text: ['Looking.'], calls: [call('a', '{"__proto__":{"x":1},"q":"\\ud800"}')], ending: 'finished' },
    ({ response }) => {
      const canonical = toCanonical(response);
      holds(canonical.ok && JSON.stringify(canonical.value) === JSON.stringify(response), 'the answer is not what would be stored');
    },
  ],
  ['fails where an error came, even with calls in hand (M2)', { calls: [call('a', '{}')], ending: 'error' }, fails({})],
  [
    'fails retryably where the answer breaks off, and keeps what had come (M3)',
    { text: ['Hello, ', 'wor'], ending: 'breaks-off' },
    fails({ type: 'model', retryable: true }),
    streams(({ response }) => response.parts, 'Hello, wor', 'text that had come'),
  ],
  [
    'leaves every call to be done, in order, arguments parsed (M4)',
    { calls: [call('a', '{"q":1}'), call('b', '')], ending: 'finished' },
    succeeds(
      (response) => findPendingToolCalls(response).map(({ id, name, args }) => ({ id, name, args })),
      [
        { id: 'a', name: 'search', args: { q: 1 } },
        { id: 'b', name: 'search', args: {} },
      ],
      'calls',
    ),
  ],
  [
    'hands arguments on as text that are no JSON (M5)',
    { calls: [call('a', '{"q":')], ending: 'finished' },
    succeeds((response) => findPendingToolCalls(response).map(({ args, rawArgs }) => [args, rawArgs]), [[null, '{"q":']], 'arguments'),
  ],
  [
    'gives every call an id of its own (M5)',
    { calls: [call('a', '{}'), call('a', '{}'), call('a', '{}')], ending: 'finished' },
    ({ response }) => {
      const ids = findPendingToolCalls(response).map(({ id }) => id);
      same([ids.length, new Set(ids).size], [3, 3], 'calls and ids');
      holds(!ids.includes(''), 'an id is empty');
    },
  ],
  [
    'never shows arguments as text',
    { calls: [call('a', '{"q":1}')], ending: 'finished' },
    ({ response, deltas }) => same(joinText(response.parts) + joinText(deltas), '', 'text'),
  ],
  ['fails where nothing was said (M6)', { ending: 'finished' }, fails({ type: 'model', code: 'empty-response', retryable: true })],
  [
    'lets a refusal without words through, so that it can be seen',
    { ending: 'refused' },
    succeeds(({ finishReason }) => finishReason, 'content_filter', 'finish reason'),
  ],
  [
    'reports what the provider says of tokens (M7)',
    { text: ['Hello.'], usage: { input: 7, output: 2 }, ending: 'finished' },
    ({ response: { usage } }) => same([usage.input, usage.output, usage.total, usage.unknownCalls], [7, 2, 9, undefined], 'usage'),
  ],
  [
    'does not take tokens that were not reported for none (M7)',
    { text: ['Hello.'], ending: 'finished' },
    ({ response }) => same(response.usage.unknownCalls, 1, 'calls of unknown usage'),
  ],
  [
    'reads how long the provider asks to wait (M8)',
    { ending: 'rate-limited', retryAfterMs: 7000 },
    fails({ type: 'rate_limit', retryable: true, retryAfterMs: 7000 }),
  ],
];

const aborts: readonly (readonly [name: string, staged: StagedAnswer, isBefore: boolean])[] = [
  ['begins nothing once its signal has fired (M1)', { text: ['Hello.'], ending: 'finished' }, true],
  ['ends at once when its signal fires, and says so (M1)', { text: ['Hello.'], ending: 'never' }, false],
];

async function checkAbort(model: Model, method: Method, isBefore: boolean): Promise<void> {
  const controller = new AbortController();
  if (isBefore) controller.abort();
  const pending = ask(model, method, controller.signal);
  if (!isBefore) setTimeout(() => controller.abort(new Error('enough')), 0);
  fails({ code: 'aborted', retryable: false })(await pending, method);
}

/** Promises that every model must keep, whoever answers behind it. A case passes if its answer cannot be staged. */
export function modelConformance(stage: StageModel): readonly ConformanceCase[] {
  const methods: readonly Method[] = ['generate', 'stream'];
  return methods.flatMap((method) => {
    const toCase = (name: string, staged: StagedAnswer, check: (model: Model) => Promise<void>): ConformanceCase => ({
      name: `${method}: ${name}`,
      run: async () => {
        const model = await stage(staged);
        if (model !== undefined) await check(model);
      },
    });
    return [
      ...checks.map(([name, staged, ...list]) =>
        toCase(name, staged, async (model) => {
          const answer = await ask(model, method);
          for (const check of list) check(answer, method);
        }),
      ),
      ...aborts.map(([name, staged, isBefore]) => toCase(name, staged, (model) => checkAbort(model, method, isBefore))),
    ];
  });
}
