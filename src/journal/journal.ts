// The journal of the open step.
// Owns:     the intents and results of the step's effects, in memory and in the store, until the step is recorded.
// Does not: run anything itself, or decide what an unknown end means.
// J1. Work with a result does not run again: the same key gets the same result.
// J2. Work that must not run twice starts only after its intent is safe; an intent without a result is an unknown end.
// J3. Before anything with an outside effect starts, everything that led to it is safe: results are kept in their order.
// J4. If the store fails, nothing more starts, and the step is not recorded.
// J5. What an earlier process has done can be read without starting anything, for work that this one would not start.
import type { EffectFailure, EffectResult, Effects } from '../effects/index.ts';
import { cleanText, DamagedDataError, isRecord } from '../lib/index.ts';

/** The result of work that was started, and of whose end nothing is known. */
export const createUnknownEnd = (key: string): EffectFailure => ({
  ok: false,
  kind: 'unknown',
  type: 'unknown',
  code: 'unknown-end',
  message: `${key} had started when the process ended. Its result is unknown.`,
  retryable: false,
});

/** One row of the journal: an effect of the open step, kept until the step is recorded. */
export interface EffectRow {
  readonly key: string;
  /** `intent`: about to run. `result`: its result. Each at most once per key. */
  readonly phase: 'intent' | 'result';
  /** JSON text. */
  readonly body: string;
}

/** Writes rows; settles when these rows and all written before them are safe. */
export type WriteEffects = (rows: readonly EffectRow[]) => Promise<void>;

/** Hears of effects before they are given again or started. */
interface JournalWatcher {
  onKnown?(): void;
  /** Called before new work starts: it starts when this settles, at once if it returns undefined. */
  beforeNew?(): Promise<void> | undefined;
}

export class Journal {
  readonly #results = new Map<string, EffectResult<unknown>>();
  readonly #intents = new Set<string>();
  /** Keys of an earlier process that nobody has asked for again. */
  readonly #unread = new Set<string>();
  /** Those of them whose work nobody has asked for again: it was only recalled, if anything. */
  readonly #unclaimed = new Set<string>();
  readonly #write: WriteEffects;
  /** Counts the steps: an effect that ends after its step does not concern the next one. */
  #step = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(rows: readonly EffectRow[], write: WriteEffects) {
    this.#write = write;
    for (const { key, phase, body } of rows) {
      this.#unread.add(key);
      this.#unclaimed.add(key);
      if (phase === 'intent') this.#intents.add(key);
      else this.#results.set(key, readResult(body));
    }
  }

  /** True if the open step has done nothing yet. */
  get isEmpty(): boolean {
    return this.#results.size === 0 && this.#intents.size === 0;
  }

  /** True if an earlier process began work with such a key, and nobody has asked for its result again. */
  hasUnread(pattern: RegExp): boolean {
    for (const key of this.#unread) if (pattern.test(key)) return true;
    return false;
  }

  /** True if nothing more may start or be kept. */
  get isShut(): boolean {
    return this.#failure !== undefined;
  }

  /** Throws if the store has failed: what was done since is not safe. */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Forgets the open step once it is recorded or parked: the state holds its results. */
  clear(): void {
    this.#results.clear();
    this.#intents.clear();
    this.#unread.clear();
    this.#unclaimed.clear();
    this.#step += 1;
  }

  /** Lets nothing more start or be kept. */
  shut(error: unknown): void {
    this.#failure ??= { error };
  }

  /** The same effects, journaled. `prefix` tells apart equal keys of different executions. */
  wrap(direct: Effects, prefix = '', watcher: JournalWatcher = {}): Effects {
    return {
      run: async (name, work, options = {}) => {
        const key = cleanText(`${prefix}${name}`);
        this.#unread.delete(key);
        this.#unclaimed.delete(key);
        const { effect = 'once' } = options;
        const known = this.#results.get(key) ?? (effect === 'once' && this.#intents.has(key) ? createUnknownEnd(name) : undefined);
        if (known !== undefined) {
          watcher.onKnown?.();
          // Holds: the same key stands for the same work.
          return known as EffectResult<Awaited<ReturnType<typeof work>>>;
        }
        const step = this.#step;
        const waiting = watcher.beforeNew?.();
        if (waiting !== undefined) await waiting;
        if (effect !== 'pure') await this.#intend(key);
        this.check();
        const result = await direct.run(name, work, options);
        // An interrupted effect has no result; the step it belongs to says so.
        if (step === this.#step && (result.ok || result.kind !== 'cancelled')) this.#keep(key, result);
        return result;
      },
      sleep: (key, ms, options) => direct.sleep(key, ms, options),
      recall: (name) => {
        // Most steps were begun by no other process.
        const known = this.#unclaimed.size === 0 ? undefined : this.#recall(cleanText(`${prefix}${name}`), name);
        if (known !== undefined) watcher.onKnown?.();
        return known;
      },
    };
  }

  #recall(key: string, name: string): EffectResult<unknown> | undefined {
    const found = [...this.#unclaimed].filter((each) => each === key || each.startsWith(`${key}/`));
    if (found.length === 0) return undefined;
    for (const each of found) this.#unread.delete(each);
    return this.#results.get(key) ?? createUnknownEnd(name);
  }

  async #intend(key: string): Promise<void> {
    this.check();
    const isNew = !this.#intents.has(key);
    this.#intents.add(key);
    await this.#guardWrite(this.#write(isNew ? [{ key, phase: 'intent', body: '{}' }] : []));
  }

  #keep(key: string, result: EffectResult<unknown>): void {
    this.#results.set(key, result);
    // Not awaited: whatever builds on it is written behind it, and does not start before both are safe.
    void this.#guardWrite(this.#write([{ key, phase: 'result', body: JSON.stringify(result) }])).catch(() => undefined);
  }

  async #guardWrite(writing: Promise<void>): Promise<void> {
    try {
      await writing;
    } catch (error) {
      this.shut(error);
      throw error;
    }
  }
}

// Holds: the rows are of our own writing, and the store has checked that they are whole.
const isResult = (value: unknown): value is EffectResult<unknown> => isRecord(value) && typeof value['ok'] === 'boolean';

function readResult(body: string): EffectResult<unknown> {
  const result: unknown = JSON.parse(body);
  if (isResult(result)) return result;
  throw new DamagedDataError('effect', 'expected a result');
}
