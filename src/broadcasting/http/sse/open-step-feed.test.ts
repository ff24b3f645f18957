// The open step for a slow reader, against an open step that is written at random.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { OpenStepItem, OpenStepPlace } from '../../../sessions/index.ts';
import { OpenStepFeed } from './open-step-feed.ts';

const place: OpenStepPlace = { execution: 1, step: 1, afterEntry: 3, attempt: 1 };

/** An open step: readers get it from its beginning, then what is written later. */
class WrittenStep {
  #text = '';
  #readers = new Set<() => void>();

  get text(): string {
    return this.#text;
  }

  write(text: string): void {
    this.#text += text;
    for (const wake of this.#readers) wake();
  }

  async *openStep(_id: string, { signal }: { readonly signal?: AbortSignal } = {}): AsyncGenerator<OpenStepItem> {
    let sent = 0;
    while (signal?.aborted !== true) {
      if (sent < this.#text.length) {
        const text = this.#text.slice(sent);
        yield { ...place, type: 'text', kind: 'text', answer: 1, offset: sent, text };
        sent += text.length;
        continue;
      }
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#readers.delete(wake);
          resolve();
        };
        this.#readers.add(wake);
        signal?.addEventListener('abort', wake, { once: true });
      });
    }
  }
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve));

it('passes on every character once and in order, and never keeps more than the limit (F1, F2)', async () => {
  const moves = fc.array(fc.oneof(fc.integer({ min: 1, max: 400 }), fc.constant('take')), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(moves, fc.integer({ min: 300, max: 1500 }), async (steps, maxBytes) => {
      const step = new WrittenStep();
      const leaving = new AbortController();
      const options = { sessionId: 's', maxBytes, signal: leaving.signal, onMore: () => undefined };
      const feed = new OpenStepFeed({ ...options, runtime: { openStep: (id, given) => step.openStep(id, given) } });
      let received = '';
      const take = (): boolean => {
        const item = feed.take();
        if (item?.type !== 'text') return false;
        expect(item.offset).toBe(received.length);
        received += item.text;
        return true;
      };
      let n = 0;
      for (const move of steps) {
        if (move === 'take') take();
        else step.write(Array.from({ length: move }, () => String.fromCharCode(97 + (n++ % 26))).join(''));
        await settle();
        expect(feed.bytes).toBeLessThanOrEqual(maxBytes + 2);
      }
      for (let idle = 0; idle < 3;) {
        if (!take()) idle += 1;
        else idle = 0;
        await settle();
      }
      expect(received).toBe(step.text);
      leaving.abort();
    }),
    { numRuns: 40 },
  );
});

it('ends an attempt that was followed by another one while it did not read', async () => {
  const second = { ...place, attempt: 2 };
  const texts = (at: OpenStepPlace, text: string): OpenStepItem => ({ ...at, type: 'text', kind: 'text', answer: 1, offset: 0, text });
  const rounds: readonly OpenStepItem[][] = [[texts(place, 'a'.repeat(200))], [texts(second, 'b'.repeat(10))]];
  let round = 0;
  const openStep = async function* (): AsyncGenerator<OpenStepItem> {
    yield* rounds[round++] ?? [];
    await new Promise(() => undefined);
  };
  const feed = new OpenStepFeed({
    runtime: { openStep },
    sessionId: 's',
    maxBytes: 300,
    signal: new AbortController().signal,
    onMore: () => undefined,
  });
  const seen: (OpenStepItem | undefined)[] = [];
  for (let n = 0; n < 8; n += 1) {
    seen.push(feed.take());
    await settle();
  }
  expect(seen.flatMap((item) => (item === undefined ? [] : [`${item.type} ${item.attempt}`]))).toEqual(['text 1', 'void 1', 'text 2']);
});

it('throws what reading the step threw, after everything that was read before', async () => {
  const openStep = async function* (): AsyncGenerator<OpenStepItem> {
    yield { ...place, type: 'text', kind: 'text', answer: 1, offset: 0, text: 'a' };
    throw new Error('gone');
  };
  const options = { sessionId: 's', maxBytes: 300, signal: new AbortController().signal, onMore: () => undefined };
  const feed = new OpenStepFeed({ ...options, runtime: { openStep } });
  feed.take();
  await settle();
  expect(feed.take()).toMatchObject({ text: 'a' });
  expect(() => feed.take()).toThrow('gone');
});
