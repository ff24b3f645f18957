import { foreignNames } from './foreign-names.ts';
import { InvalidArgumentError } from './invalid-argument-error.ts';
import { quoteText } from './quote-text.ts';

/** Options that a function takes, with advice of its own for names that it does not. */
export interface KnownKeys {
  readonly known: readonly string[];
  readonly hints?: Readonly<Record<string, string>>;
}

/** Counts the letters to insert, drop, replace or swap with their neighbour to get from one word to the other. */
function countEdits(one: string, other: string): number {
  let [older, before]: readonly (readonly number[])[] = [[], Array.from({ length: other.length + 1 }, (_, index) => index)];
  for (let row = 1; row <= one.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= other.length; column += 1) {
      const [letter, its] = [one[row - 1], other[column - 1]];
      const replaced = (before?.[column - 1] ?? 0) + (letter === its ? 0 : 1);
      const isSwap = letter === other[column - 2] && one[row - 2] === its && row > 1 && column > 1;
      const swapped = isSwap ? (older?.[column - 2] ?? 0) + 1 : Infinity;
      current.push(Math.min((before?.[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1, replaced, swapped));
    }
    [older, before] = [before, current];
  }
  return before?.at(-1) ?? 0;
}

/** Finds the name that a misspelled one was meant to be. */
function findSimilar(name: string, known: readonly string[]): string | undefined {
  const allowed = name.length < 4 ? 1 : 2;
  // Each edit changes the length by one at most. A name from outside may be a megabyte long: it is not compared at all.
  const candidates = known.filter((each) => Math.abs(each.length - name.length) <= allowed);
  const toEdits = (each: string): number => countEdits(name.toLowerCase(), each.toLowerCase());
  const [nearest] = candidates.map((each) => ({ each, edits: toEdits(each) })).sort((one, other) => one.edits - other.edits);
  return nearest !== undefined && nearest.edits <= allowed && nearest.edits < nearest.each.length / 2 ? nearest.each : undefined;
}

function findAdvice(name: string, { known, hints = {} }: KnownKeys): string {
  if (Object.hasOwn(hints, name)) return hints[name] ?? '';
  const foreign = Object.hasOwn(foreignNames, name) ? Object.entries(foreignNames[name] ?? {}) : [];
  const [, advice] = foreign.find(([option]) => known.includes(option)) ?? [];
  if (advice !== undefined) return advice;
  const similar = findSimilar(name, known);
  return similar === undefined ? `Valid options: ${known.join(', ')}.` : `Did you mean "${similar}"?`;
}

const isList = (keys: readonly string[] | KnownKeys): keys is readonly string[] => Array.isArray(keys);

/** Describes the first option that `maker` does not know; undefined if it knows them all. */
export function findKeyProblem(maker: string, options: object, keys: readonly string[] | KnownKeys): string | undefined {
  const given: KnownKeys = isList(keys) ? { known: keys } : keys;
  const unknown = Object.keys(options).find((key) => !given.known.includes(key));
  return unknown === undefined ? undefined : `Unknown option ${quoteText(unknown)} in ${maker}. ${findAdvice(unknown, given)}`;
}

/** Throws if `options` has a key that `maker` does not know. */
export function checkKeys(maker: string, options: object, keys: readonly string[] | KnownKeys): void {
  const problem = findKeyProblem(maker, options, keys);
  if (problem !== undefined) throw new InvalidArgumentError(problem);
}
