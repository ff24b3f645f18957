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
