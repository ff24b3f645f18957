import type { IdSource } from '../lib/index.ts';
import { cleanText } from './clean-text.ts';

/** Gives each call of an answer an id of its own, whatever the provider called it. */
export interface CallIds {
  /** The id under which a new call is kept: the provider's, or a new one where that is missing or taken. */
  assign(given: string): string;
  /** The id under which the call is kept that a result with this id belongs to: the first that has none yet. */
  resultFor(given: string): string;
}

interface CallIdsOptions {
  readonly ids: IdSource;
  readonly warn: (message: string) => void;
}

/** Keeps the ids of one answer. */
export function createCallIds({ ids, warn }: CallIdsOptions): CallIds {
  const taken = new Set<string>();
  const unanswered = new Map<string, string[]>();

  const fresh = (): string => {
    const base = ids();
    let id = base;
    for (let count = 2; id === '' || taken.has(id); count += 1) id = `${base}-${count}`;
    return id;
  };
  return {
    assign: (given) => {
      const wanted = cleanText(given);
      const isUsable = wanted !== '' && !taken.has(wanted);
      const id = isUsable ? wanted : fresh();
      if (!isUsable)
        warn(`A tool call came ${wanted === '' ? 'without an id' : `with the id "${wanted}" of another`}; it is kept as "${id}".`);
      taken.add(id);
      const same = unanswered.get(given);
      if (same === undefined) unanswered.set(given, [id]);
      else same.push(id);
      return id;
    },
    resultFor: (given) => {
      const same = unanswered.get(given);
      // The last one stays: a provider may tell the same result again, more of it each time.
      const id = same !== undefined && same.length > 1 ? same.shift() : same?.[0];
      return id ?? cleanText(given);
    },
  };
}
