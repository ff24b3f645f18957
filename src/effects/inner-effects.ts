import type { EffectControl } from './effect-control.ts';
import type { Effects } from './effects.ts';
import { createCancelledEffect } from './effects.ts';

/** Settles with `cancelled` when the inner run ends, whatever the outer effects do. */
function untilEnd<Result>(
  start: () => Promise<Result>,
  subscribe: (call: () => void) => () => void,
): Promise<Result | ReturnType<typeof createCancelledEffect>> {
  return new Promise((resolve, reject) => {
    const unsubscribe = subscribe(() => resolve(createCancelledEffect()));
    // An engine that is down is not a result of the work: it rejects.
    Promise.resolve(start()).finally(unsubscribe).then(resolve, reject);
  });
}

/** The outer run's effects for a run inside it, which may end before the outer one does. */
export function createInnerEffects(outer: Effects, control: EffectControl & { readonly ending: unknown }): Effects {
  return {
    run: async (key, work, options) =>
      control.interruption === undefined
        ? untilEnd(
            () => outer.run(key, (signal) => work(AbortSignal.any([signal, control.signal])), options),
            (call) => control.onInterrupt(call),
          )
        : createCancelledEffect(),
    sleep: async (key, ms) =>
      control.ending === undefined
        ? untilEnd(
            () => outer.sleep(key, ms),
            (call) => control.onEnding(call),
          )
        : createCancelledEffect(),
    recall: (key) => outer.recall?.(key),
  };
}
