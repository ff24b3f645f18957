// Tokens of one run. A run that continues an execution counts only its own.
import { omitUndefined } from '../../lib/index.ts';
import type { Usage } from '../../messages/index.ts';
import type { AgUiUsage } from './ag-ui-event.ts';
import type { EventFields } from './event-fields.ts';

const counts = ['input', 'output', 'reasoning', 'cacheRead', 'cacheWrite', 'unknownCalls'] as const;
type Counts = Partial<Record<(typeof counts)[number], number>>;

export class UsageCounter {
  readonly #models = new Set<string>();
  #base: Counts = {};
  #total: Counts = {};

  /** Notes what the execution had used when the run began. */
  noteBase(usage: Usage): void {
    this.#base = usage;
  }

  /** Notes that an execution begins, of which nothing was used before. */
  clearBase(): void {
    this.#base = {};
  }

  noteModel(model: string): void {
    this.#models.add(model);
  }

  /** Notes what the execution has used, from the event that ends it. */
  noteTotal(usage: EventFields): void {
    this.#total = Object.fromEntries(counts.flatMap((key) => (usage.json(key) === undefined ? [] : [[key, usage.number(key)]])));
  }

  /** Returns the tokens of the run; empty if nothing is known. */
  toUsage(): readonly AgUiUsage[] {
    const get = (key: (typeof counts)[number]): number | undefined => {
      const count = this.#total[key];
      return count === undefined ? undefined : Math.max(0, count - (this.#base[key] ?? 0));
    };
    const [inputTokens, outputTokens] = [get('input'), get('output')];
    // What was not reported is not zero.
    const isUnknown = (get('unknownCalls') ?? 0) > 0 && inputTokens === 0 && outputTokens === 0;
    if (inputTokens === undefined || outputTokens === undefined || isUnknown || (this.#models.size === 0 && inputTokens === 0)) return [];
    const [name = ''] = this.#models;
    const slash = name.indexOf('/');
    const label = this.#models.size === 1 && slash > 0 ? { provider: name.slice(0, slash), model: name.slice(slash + 1) } : {};
    const parts = { reasoningTokens: get('reasoning'), cachedInputTokens: get('cacheRead'), cacheWriteInputTokens: get('cacheWrite') };
    return [{ ...label, inputTokens, outputTokens, totalTokens: inputTokens + outputTokens, ...omitUndefined(parts) }];
  }
}
