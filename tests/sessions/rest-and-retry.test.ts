// Between two steps: a retry that is waited for, a store that failed, a runtime that ends.
import { describe, expect, test } from 'vitest';
import { RateLimitedError } from '../../src/entry/index.ts';
import type { SessionStore } from '../../src/sessions/index.ts';
import { createMemoryStore, StoreUnavailableError } from '../../src/sessions/index.ts';
import { accepted, begin, by, calls, createStage, settle } from './gated-session.ts';

const busy = { error: new RateLimitedError('busy', { retryAfterMs: 10_000 }) };

describe('while a retry is waited for', () => {
  test('a runtime that is drained begins no further step', async () => {
    const stage = createStage();
    const runtime = stage.start();
    await begin(runtime);
    (await stage.gated.next()).answer(busy);
    await settle();
    const drained = runtime.drain();
    await settle();
    await stage.clock.advance(10_000);
    await stage.clock.advance(60_000);
    await drained;
    expect(stage.gated.asked).toHaveLength(1);
    const next = stage.start();
    (await stage.gated.next()).answer({ text: 'Done.' });
    expect(await next.resume('s', { by })).toMatchObject({ execution: 1, status: 'completed' });
  });

  test('a message joins before the retry is made', async () => {
    const stage = createStage();
    const runtime = stage.start();
    await begin(runtime);
    (await stage.gated.next()).answer(busy);
    await settle();
    await runtime.send('s', 'two', accepted);
    await stage.clock.advance(10_000);
    expect((await stage.gated.next()).said).toStrictEqual(['one', 'two']);
  });

  test('the next process waits for what is left of the time, and not for all of it', async () => {
    const stage = createStage();
    await begin(stage.start());
    (await stage.gated.next()).answer(busy);
    await settle();
    await stage.clock.advance(6_000);
    const next = stage.start();
    await next.ready;
    await settle();
    await stage.clock.advance(3_999);
    expect(stage.gated.asked).toHaveLength(1);
    await stage.clock.advance(1);
    // The first runtime does not know yet that another has taken over: it asks as well, and can store nothing of it.
    for (const { answer } of [await stage.gated.next(), await stage.gated.next()]) answer({ text: 'Done.' });
    expect(await next.resume('s', { by })).toMatchObject({ status: 'completed' });
  });
});

describe('after the store has failed', () => {
  /** A store that refuses to record the first step. */
  function failingOnce(): SessionStore {
    const store = createMemoryStore();
    let isFirst = true;
    return {
      ...store,
      log: {
        ...store.log,
        write: async (write) => {
          if (write.clearsEffects === true && isFirst) {
            isFirst = false;
            throw new StoreUnavailableError('full', 'the disk is full');
          }
          return store.log.write(write);
        },
      },
    };
  }

  test.each([
    ['the same request', 'one'],
    ['a resume', undefined],
  ] as const)('%s goes on from the last commit and settles at rest', async (_, text) => {
    const stage = createStage();
    const runtime = stage.start({ store: failingOnce() });
    const { sent } = await begin(runtime);
    (await stage.gated.next()).answer(calls('look'));
    await expect(sent).rejects.toMatchObject({ code: 'store-unavailable' });
    const again = text === undefined ? runtime.resume('s', { by }) : runtime.send('s', text, { by, requestId: text });
    // The first answer is kept; only what follows is asked for.
    void stage.gated.next().then(({ answer }) => answer({ text: 'Done.' }));
    expect(await again).toMatchObject({ execution: 1, status: 'completed', text: 'Done.' });
    expect(stage.gated.asked).toHaveLength(2);
  });
});
