import { describe, expect, test } from 'vitest';
import type { Model } from '../inference/index.ts';
import { createModelLimits, withModelLimits, withFallback, withModelSettings, withTimeouts } from '../inference/index.ts';
import { createFakeClock } from '../lib/index.ts';
import type { StagedAnswer } from './model-conformance.ts';
import { modelConformance } from './model-conformance.ts';
import type { ScriptedAnswer } from './scripted-model.ts';
import { scriptedModel } from './scripted-model.ts';

const endings: Readonly<Record<StagedAnswer['ending'], (staged: StagedAnswer) => ScriptedAnswer>> = {
  finished: () => ({}),
  refused: () => ({ finishReason: 'refusal' }),
  'breaks-off': () => ({ finishReason: 'interrupted' }),
  error: () => ({ error: new Error('in the middle') }),
  'rate-limited': ({ retryAfterMs }) => ({
    error: { type: 'rate_limit', code: 'rate-limited', message: 'busy', retryable: true, retryAfterMs },
  }),
  never: () => ({}),
};

function stage(staged: StagedAnswer): Model {
  const { text = [], calls = [], usage } = staged;
  const answer: ScriptedAnswer = {
    chunks: text,
    ...(calls.length > 0 && { toolCalls: calls }),
    ...(usage !== undefined && { usage }),
    ...endings[staged.ending](staged),
  };
  return scriptedModel([staged.ending === 'never' ? () => new Promise<ScriptedAnswer>(() => undefined) : answer], { repeatLast: true });
}

const clock = createFakeClock();
const throwing: Model = {
  provider: 'p',
  modelId: 'broken',
  generate: () => Promise.reject(new Error('no')),
  stream: () => Promise.reject(new Error('no')),
};

describe.each<readonly [string, (staged: StagedAnswer) => Model]>([
  ['a scripted model', stage],
  ['with time-outs', (staged) => withTimeouts(stage(staged), { firstByteMs: 1e6, silenceMs: 1e6, totalMs: 1e6 }, clock)],
  ['with settings', (staged) => withModelSettings(stage(staged), { temperature: 0 })],
  ['with limits', (staged) => withModelLimits(stage(staged), createModelLimits({ concurrent: 1, requestsPerMinute: 5, clock }), 'shared')],
  ['as a fallback', (staged) => withFallback(throwing, stage(staged))],
  [
    'with everything',
    (staged) => withFallback(withModelLimits(withTimeouts(stage(staged), { totalMs: 1e6 }, clock), { concurrent: 2 }), []),
  ],
])('%s', (_name, make) => {
  test.each(modelConformance(make))('$name', async ({ run }) => {
    await run();
    expect(clock.pendingTimers()).toBe(0);
  });
});

describe('the suite', () => {
  const failures = async (make: (staged: StagedAnswer) => Model | undefined): Promise<readonly string[]> => {
    const results = await Promise.allSettled(
      modelConformance(make).map(async ({ run }) => {
        await run();
      }),
    );
    return results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
  };

  test('finds a model that calls everything a success', async () => {
    const optimist = (staged: StagedAnswer): Model => {
      const model = stage(staged);
      const ask: Model['generate'] = async (request) => {
        const outcome = await model.generate(request);
        return { ok: true, response: outcome.ok ? outcome.response : outcome.partial };
      };
      return { ...model, generate: ask, stream: ask };
    };
    expect((await failures(optimist)).length).toBeGreaterThanOrEqual(12);
  });

  test('finds a model that throws', async () => {
    expect((await failures(() => throwing)).length).toBeGreaterThan(20);
  });

  test('passes over what cannot be staged', async () => {
    expect(await failures(() => undefined)).toStrictEqual([]);
  });
});
