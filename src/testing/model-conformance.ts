import type { Model, ModelDelta, ModelOutcome, ModelRequest, ModelResponse } from '../inference/index.ts';
import { pendingToolCalls } from '../inference/index.ts';
import { toCanonical } from '../lib/index.ts';
import { Message } from '../messages/index.ts';
import type { ConformanceCase } from './conformance.ts';
import { holds, same } from './conformance.ts';

/** What a provider is to send, for a model under test to make an answer of. */
export interface StagedAnswer {
  /** Pieces of text, in their order. */
  readonly text?: readonly string[];
  /** Calls, with their arguments as the provider writes them. */
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly args: string }[];
  /** Left out: the provider says nothing about tokens. */
  readonly usage?: { readonly input: number; readonly output: number };
  /** How it ends; `error` is an error after all that, followed by a normal end where the protocol can express it. */
  readonly ending: 'finished' | 'refused' | 'breaks-off' | 'error' | 'rate-limited' | 'never';
  /** What a provider that is `rate-limited` asks to wait. */
  readonly retryAfterMs?: number;
}

/** Makes a model whose provider sends the staged answer to every call; undefined where that cannot be staged. */
export type StageModel = (staged: StagedAnswer) => Model | undefined | Promise<Model | undefined>;

interface Answered {
  readonly outcome: ModelOutcome;
  readonly deltas: readonly ModelDelta[];
  readonly response: ModelResponse;
}

type Way = 'generate' | 'stream';
type Check = (answered: Answered, way: Way) => void;

const request = (signal?: AbortSignal): ModelRequest => ({
  messages: [Message.user('Say something.', { id: 'message-1' })],
  tools: [{ name: 'search', description: 'Searches.', inputSchema: { type: 'object' } }],
  ...(signal !== undefined && { signal }),
});

async function answer(model: Model, way: Way, signal?: AbortSignal): Promise<Answered> {
  const deltas: ModelDelta[] = [];
  const asked = way === 'generate' ? model.generate(request(signal)) : model.stream(request(signal), (delta) => deltas.push(delta));
  const outcome = await asked;
  return { outcome, deltas, response: outcome.ok ? outcome.response : outcome.partial };
}

const textOf = ({ parts }: ModelResponse): string => parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
const toldText = (deltas: readonly ModelDelta[]): string => deltas.map((delta) => (delta.type === 'text' ? delta.text : '')).join('');

function succeeded({ outcome }: Answered): void {
  holds(outcome.ok, outcome.ok ? '' : `it failed: ${outcome.failure.code}, ${outcome.failure.message}`);
}

function failed({ outcome }: Answered, expected: Readonly<Record<string, unknown>>): void {
  holds(!outcome.ok, 'it passed for a success');
  const found: Readonly<Record<string, unknown>> = { ...outcome.failure };
  for (const [key, value] of Object.entries(expected)) same(found[key], value, `the failure's ${key}`);
}

const call = (id: string, args: string): NonNullable<StagedAnswer['calls']>[number] => ({ id, name: 'search', args });
const ids = ({ response }: Answered): readonly string[] => pendingToolCalls(response).map(({ id }) => id);

const checks: readonly (readonly [name: string, staged: StagedAnswer, check: Check])[] = [
  [
    'gives what was said, and tells all of it piece by piece',
    { text: ['Hel', 'lo, ', 'world.'], ending: 'finished', usage: { input: 3, output: 2 } },
    (answered, way) => {
      succeeded(answered);
      same(textOf(answered.response), 'Hello, world.', 'text');
      if (way === 'stream') same(toldText(answered.deltas), 'Hello, world.', 'text that was told');
    },
  ],
  [
    'gives plain JSON data (M1)',
    { text: ['Looking.'], calls: [call('a', '{"__proto__":{"x":1},"q":"\\ud800"}')], ending: 'finished' },
    ({ response }) => {
      const canonical = toCanonical(response);
      holds(canonical.ok && JSON.stringify(canonical.value) === JSON.stringify(response), 'the answer is not what would be stored');
    },
  ],
  [
    'fails where an error came, even with calls in hand (M2)',
    { calls: [call('a', '{}')], ending: 'error' },
    (answered) => {
      failed(answered, {});
    },
  ],
  [
    'fails retryably where the answer breaks off, and keeps what had come (M3)',
    { text: ['Hello, ', 'wor'], ending: 'breaks-off' },
    (answered, way) => {
      failed(answered, { type: 'model', retryable: true });
      if (way === 'stream') same(textOf(answered.response), 'Hello, wor', 'text that had come');
    },
  ],
  [
    'leaves every call to be done, in order, arguments parsed (M4)',
    { calls: [call('a', '{"q":1}'), call('b', '')], ending: 'finished' },
    (answered) => {
      succeeded(answered);
      same(
        pendingToolCalls(answered.response).map(({ id, name, args }) => [id, name, args]),
        [
          ['a', 'search', { q: 1 }],
          ['b', 'search', {}],
        ],
        'calls',
      );
    },
  ],
  [
    'hands arguments on as text that are no JSON (M5)',
    { calls: [call('a', '{"q":')], ending: 'finished' },
    (answered) => {
      succeeded(answered);
      same(
        pendingToolCalls(answered.response).map(({ args, rawArgs }) => [args, rawArgs]),
        [[null, '{"q":']],
        'arguments',
      );
    },
  ],
  [
    'gives every call an id of its own (M5)',
    { calls: [call('a', '{}'), call('a', '{}'), call('a', '{}')], ending: 'finished' },
    (answered) => {
      same([ids(answered).length, new Set(ids(answered)).size], [3, 3], 'calls and ids');
      holds(!ids(answered).includes(''), 'an id is empty');
    },
  ],
  [
    'never shows arguments as text',
    { calls: [call('a', '{"q":1}')], ending: 'finished' },
    ({ response, deltas }) => {
      same(textOf(response) + toldText(deltas), '', 'text');
    },
  ],
  [
    'fails where nothing was said (M6)',
    { ending: 'finished' },
    (answered) => {
      failed(answered, { type: 'model', code: 'empty-response', retryable: true });
    },
  ],
  [
    'lets a refusal without words through, so that it can be seen',
    { ending: 'refused' },
    (answered) => {
      succeeded(answered);
      same(answered.response.finishReason, 'content_filter', 'finish reason');
    },
  ],
  [
    'reports what the provider says of tokens (M7)',
    { text: ['Hello.'], usage: { input: 7, output: 2 }, ending: 'finished' },
    ({ response: { usage } }) => {
      same([usage.input, usage.output, usage.total, usage.unknownCalls], [7, 2, 9, undefined], 'usage');
    },
  ],
  [
    'does not take tokens that were not reported for none (M7)',
    { text: ['Hello.'], ending: 'finished' },
    ({ response }) => {
      same(response.usage.unknownCalls, 1, 'calls of unknown usage');
    },
  ],
  [
    'reads how long the provider asks to wait (M8)',
    { ending: 'rate-limited', retryAfterMs: 7000 },
    (answered) => {
      failed(answered, { type: 'rate_limit', retryable: true, retryAfterMs: 7000 });
    },
  ],
];

const aborts: readonly (readonly [name: string, staged: StagedAnswer, isBefore: boolean])[] = [
  ['begins nothing once its signal has fired (M1)', { text: ['Hello.'], ending: 'finished' }, true],
  ['ends at once when its signal fires, and says so (M1)', { text: ['Hello.'], ending: 'never' }, false],
];

async function checkAbort(model: Model, way: Way, isBefore: boolean): Promise<void> {
  const controller = new AbortController();
  if (isBefore) controller.abort();
  const pending = answer(model, way, controller.signal);
  if (!isBefore)
    setTimeout(() => {
      controller.abort(new Error('enough'));
    }, 0);
  failed(await pending, { code: 'aborted', retryable: false });
}

/** What every model must do, whoever answers behind it. A case whose answer cannot be staged passes. */
export function modelConformance(stage: StageModel): readonly ConformanceCase[] {
  const ways: readonly Way[] = ['generate', 'stream'];
  const staged = (given: StagedAnswer, run: (model: Model) => Promise<void>) => async () => {
    const model = await stage(given);
    if (model !== undefined) await run(model);
  };
  return ways.flatMap((way) => [
    ...checks.map(([name, given, check]) => ({
      name: `${way}: ${name}`,
      run: staged(given, async (model) => {
        check(await answer(model, way), way);
      }),
    })),
    ...aborts.map(([name, given, isBefore]) => ({
      name: `${way}: ${name}`,
      run: staged(given, (model) => checkAbort(model, way, isBefore)),
    })),
  ]);
}
