import type { Selector } from './selector.ts';

/** One after the other, in the order in which they were given; where the order was left, nobody gets two turns ahead of the one who had the fewest since the last input. */
export const roundRobin = (): Selector => ({ name: 'round-robin', select: ({ next }) => ({ participant: next }) });

/** Who comes after this one; the first one after the last, and where nobody has spoken. */
export function nextAfter(last: string | undefined, names: readonly string[]): string {
  const index = last === undefined ? -1 : names.indexOf(last);
  // Holds: a conversation has at least one participant.
  return names[(index + 1) % names.length] as string;
}
