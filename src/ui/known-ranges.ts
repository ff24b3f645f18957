// Numbers of events of which everything is known.
// R1. The result does not depend on the order in which ranges are added, or on how often.

/** Whole numbers from `first` to `last`. */
export interface SeqRange {
  readonly first: number;
  readonly last: number;
}

/** Returns the index of the first range that ends at `seq` or later. */
function findRange(ranges: readonly SeqRange[], seq: number): number {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ranges[middle]?.last ?? 0) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Adds a range to others, which are in order and apart. Returns the same list if it had all of it. */
export function addRange(ranges: readonly SeqRange[], { first, last }: SeqRange): readonly SeqRange[] {
  // One that ends just before the new range is joined to it.
  const from = findRange(ranges, first - 1);
  const touched = ranges[from];
  if (touched === undefined) return [...ranges, { first, last }];
  if (touched.first <= first && touched.last >= last) return ranges;
  let to = from;
  let joined = { first, last };
  for (let each = ranges[to]; each !== undefined && each.first <= last + 1; each = ranges[to]) {
    joined = { first: Math.min(joined.first, each.first), last: Math.max(joined.last, each.last) };
    to += 1;
  }
  return [...ranges.slice(0, from), joined, ...ranges.slice(to)];
}

/** Returns the numbers from 1 to `upTo` that are in no range. */
export function findMissing(ranges: readonly SeqRange[], upTo: number): readonly SeqRange[] {
  const missing: SeqRange[] = [];
  let next = 1;
  for (const { first, last } of ranges) {
    if (first > next) missing.push({ first: next, last: Math.min(first - 1, upTo) });
    next = Math.max(next, last + 1);
    if (next > upTo) break;
  }
  if (next <= upTo) missing.push({ first: next, last: upTo });
  return missing.filter(({ first, last }) => first <= last);
}
