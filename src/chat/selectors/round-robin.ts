import type { Selector } from './selector.ts';

/** Gives turns in the order of the participants; if the order was left, nobody gets two turns ahead of the one with the fewest since the last input. */
export const roundRobin = (): Selector => ({ name: 'round-robin', select: ({ next }) => ({ participant: next }) });

/** Returns the name after this one; the first one after the last, or if nobody has spoken. */
export function getNextAfter(last: string | undefined, names: readonly string[]): string {
  const index = last === undefined ? -1 : names.indexOf(last);
  return names[index + 1] ?? names[0] ?? '';
}
