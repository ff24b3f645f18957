/**
 * Like Promise.all over a map, with at most `limit` at work at once. Results stand in the order of the items.
 * Once a piece of work rejects no further one is begun; those that run are waited for, then the rejection is passed on.
 */
export async function mapLimited<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<readonly Result[]> {
  // Most steps have one call. Holds: there is one.
  if (items.length === 1) return [await work(items[0] as Item, 0)];
  const results: Result[] = new Array<Result>(items.length);
  const queue = items.entries();
  const broken: { readonly error: unknown }[] = [];
  const worker = async (): Promise<void> => {
    // The workers share one iterator, so each item is taken once.
    for (const [index, item] of queue) {
      if (broken.length > 0) return;
      try {
        results[index] = await work(item, index);
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
