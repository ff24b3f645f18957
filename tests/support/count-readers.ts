// Counts who reads a runtime, for tests that leave nothing behind.
import type { SessionRuntime } from '../../src/sessions/index.ts';

type Reader = 'events' | 'openStep';

export interface CountedRuntime<Runtime> {
  /** The runtime, whose readers are counted. */
  readonly runtime: Runtime;
  /** Number of readers that have begun and not ended. */
  readonly count: () => number;
  /** Number of readers that have begun. */
  readonly total: () => number;
}

/** Wraps a runtime so that everybody who follows its sessions is counted. */
export function countReaders<Runtime extends SessionRuntime>(runtime: Runtime): CountedRuntime<Runtime> {
  let [open, total] = [0, 0];
  async function* follow<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item, void, undefined> {
    open += 1;
    total += 1;
    try {
      yield* items;
    } finally {
      open -= 1;
    }
  }
  const wrap = (method: Reader): unknown => {
    const read = runtime[method].bind(runtime) as (...args: readonly unknown[]) => AsyncIterable<unknown>;
    return (...args: readonly unknown[]) => follow(read(...args));
  };
  const counted = { events: wrap('events'), openStep: wrap('openStep') };
  const proxy = new Proxy(runtime, {
    get: (target, key) => {
      if (key === 'events' || key === 'openStep') return counted[key];
      const value: unknown = Reflect.get(target, key, target);
      // Holds: methods of a runtime are functions of it.
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  return { runtime: proxy, count: () => open, total: () => total };
}
