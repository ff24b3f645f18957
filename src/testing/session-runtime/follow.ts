import { ConformanceError } from '../conformance-error.ts';
import { waitUntil, within } from './runtime-stage.ts';

/** A reader that follows, and all that it has read. */
export interface Follower<Item> {
  readonly seen: readonly Item[];
  /** Settles when this holds of all that was read. Fails the case if the reader has ended before. */
  reach(isReached: (seen: readonly Item[]) => boolean, what: string): Promise<void>;
  /** Leaves, and settles when the reader has ended. */
  leave(): Promise<void>;
}

/** Reads what `open` returns until it is told to leave. */
export function follow<Item>(open: (signal: AbortSignal) => AsyncIterable<Item>): Follower<Item> {
  const leaving = new AbortController();
  const seen: Item[] = [];
  let problem: string | undefined;
  const read = async (): Promise<void> => {
    for await (const item of open(leaving.signal)) seen.push(item);
  };
  const ended = read().then(
    () => (problem = 'it ended by itself'),
    (error: unknown) => (problem = String(error)),
  );
  const check = (what: string): void => {
    if (problem !== undefined) throw new ConformanceError(`A reader that waited for ${what} has ended: ${problem}`);
  };
  return {
    seen,
    reach: async (isReached, what) => {
      await waitUntil(async () => {
        if (isReached(seen)) return true;
        check(what);
        return undefined;
      }, what);
    },
    leave: async () => {
      check('its end');
      leaving.abort();
      await within(ended, 'the end of a reader that leaves');
    },
  };
}
