// The effects of the step that is open.
// Owns:     what was begun and what came of it, in memory and in the store, until the step is recorded.
// Does not: carry anything out, or decide what an unknown end means.
// J1. Work that was done once is not done again: whoever asks under the same key gets the same result.
// J2. Work that must not happen twice is begun only after its intent is safe; an intent without a result is an unknown end.
// J3. Before anything with an effect outside begins, everything that led to it is safe: results are kept in their order.
// J4. Where the store fails, nothing more begins, and the step is not recorded.
import { DamagedDataError, isRecord } from '../lib/index.ts';
import type { EffectFailure, EffectResult, Effects } from '../step-by-step/index.ts';
import type { EffectRow } from './session-store.ts';

const unknownEnd = (key: string): EffectFailure => ({
  ok: false,
  kind: 'unknown',
  type: 'unknown',
  code: 'unknown-end',
  message: `${key} was begun, and the process ended before its end was known.`,
  retryable: false,
});

/** Writes rows; settles when they are safe, and all that was written before them. */
export type WriteEffects = (rows: readonly EffectRow[]) => Promise<void>;

export class Journal {
  readonly #results = new Map<string, EffectResult<unknown>>();
  readonly #intents = new Set<string>();
  readonly #write: WriteEffects;
  /** Counts the steps: what ends after its step does not concern the next one. */
  #step = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(rows: readonly EffectRow[], write: WriteEffects) {
    this.#write = write;
    for (const { key, phase, body } of rows) {
      if (phase === 'intent') this.#intents.add(key);
      else this.#results.set(key, readResult(body));
    }
  }

  /** True where the open step has done nothing yet. */
  get isEmpty(): boolean {
    return this.#results.size === 0 && this.#intents.size === 0;
  }

  /** Rejects what comes next where the store has failed: what was done since is not safe. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** The step is recorded, or parked: what was done in it stands in the state. */
  clear(): void {
    this.#results.clear();
    this.#intents.clear();
    this.#step += 1;
  }

  /** Nothing more is begun or kept. */
  shut(error: unknown): void {
    this.#failure ??= { error };
  }

  /** The same effects, journaled. `prefix` tells apart what has the same key in different executions. */
  wrap(direct: Effects, prefix = '', onNew?: () => void): Effects {
    return {
      run: async (name, work, options = {}) => {
        const key = `${prefix}${name}`;
        const known = this.#results.get(key);
        // Holds: the same key stands for the same work.
        if (known !== undefined) return known as EffectResult<Awaited<ReturnType<typeof work>>>;
        const { effect = 'once' } = options;
        const step = this.#step;
        if (effect === 'once' && this.#intents.has(key)) return unknownEnd(name);
        onNew?.();
        if (effect !== 'pure') await this.#intend(key);
        this.check();
        const result = await direct.run(name, work, options);
        // What was cut off has no result; the step that it belongs to says so.
        if (step === this.#step && (result.ok || result.kind !== 'cancelled')) this.#keep(key, result);
        return result;
      },
      sleep: (key, ms) => direct.sleep(key, ms),
    };
  }

  async #intend(key: string): Promise<void> {
    this.check();
    const isNew = !this.#intents.has(key);
    this.#intents.add(key);
    await this.#guarded(this.#write(isNew ? [{ key, phase: 'intent', body: '{}' }] : []));
  }

  #keep(key: string, result: EffectResult<unknown>): void {
    this.#results.set(key, result);
    // Not waited for: whatever builds on it is written behind it, and is not begun before both are safe.
    void this.#guarded(this.#write([{ key, phase: 'result', body: JSON.stringify(result) }])).catch(() => undefined);
  }

  async #guarded(writing: Promise<void>): Promise<void> {
    try {
      await writing;
    } catch (error) {
      this.shut(error);
      throw error;
    }
  }
}

function readResult(body: string): EffectResult<unknown> {
  const result: unknown = JSON.parse(body);
  if (isRecord(result) && typeof result['ok'] === 'boolean') return result as unknown as EffectResult<unknown>;
  throw new DamagedDataError('effect', 'expected a result');
}
