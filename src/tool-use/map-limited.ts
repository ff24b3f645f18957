import type { Soon } from '../lib/index.ts';

/**
 * Like Promise.all over a map, with at most `limit` running at once. Results are in the order of the items.
 * Once one rejects, no further one starts; those that run are awaited, then the rejection is passed on.
 */
export async function mapLimited<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item, index: number) => Soon<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = new Array<Result>(items.length);
  let next = 0;
  const broken: { readonly error: unknown }[] = [];
  const worker = async (): Promise<void> => {
    // The workers share one place, so each item is taken once.
    while (next < items.length && broken.length === 0) {
      const index = next;
      next += 1;
      try {
        // Holds: the place is inside the list.
        results[index] = await work(items[index] as Item, index);
      } catch (error) {
        broken.push({ error });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  const [first] = broken;
  if (first !== undefined) throw first.error;
  return results;
}
