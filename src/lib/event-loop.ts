/** Lets the event loop run if this was not done for a while. */
export type Breather = () => Promise<void>;

/** Creates a breather: called often during long work, it lets everything else run about every `everyMs`. */
export function createBreather(everyMs = 8): Breather {
  let last = performance.now();
  return async () => {
    if (performance.now() - last < everyMs) return;
    await new Promise<void>((resolve) => {
      setTimeout(resolve, 0);
    });
    last = performance.now();
  };
}

type Immediate = (call: () => void) => unknown;

const isImmediate = (value: unknown): value is Immediate => typeof value === 'function';

/** Settles in the next turn of the event loop, when everything that was ready in this one has run. */
export function nextTurn(): Promise<void> {
  // setImmediate() exists in Node and does not wait; other hosts have only timers.
  const immediate: unknown = Reflect.get(globalThis, 'setImmediate');
  return new Promise((resolve) => {
    if (isImmediate(immediate)) immediate(resolve);
    else setTimeout(resolve, 0);
  });
}
