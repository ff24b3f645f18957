/** Like Promise.all over a map, with at most `limit` at work at once. Results stand in the order of the items. */
export async function mapLimited<Item, Result>(
  items: readonly Item[],
  limit: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = new Array<Result>(items.length);
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    // The workers share one iterator, so each item is taken once.
    for (const [index, item] of queue) results[index] = await work(item, index);
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}
