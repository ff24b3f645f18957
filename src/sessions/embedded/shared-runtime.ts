// One runtime per process, although bundlers in development load a module again and again.
// Owns:     the runtimes on `globalThis`, which all copies of this module share.
// Does not: close a runtime, or replace one because its module has changed.
import { describeValue, InvalidArgumentError, isThenable, readField } from '../../lib/index.ts';
import type { SessionWorker } from '../core/session-runtime.ts';

/** A runtime that was made, or is being made. */
interface SharedSlot {
  readonly made: unknown;
  /** Aborted once the runtime takes no more work. */
  closing: unknown;
}

const runtimesKey = Symbol.for('stepline.runtimes');
const closingKey = Symbol.for('stepline.closing');

/** Lets `sharedRuntime` find out whether a runtime still takes work. */
export function exposeClosing<Runtime extends SessionWorker>(runtime: Runtime, closing: AbortSignal): Runtime {
  return Object.defineProperty(runtime, closingKey, { value: closing });
}

function getSlots(): Map<string, SharedSlot> {
  const known: unknown = Reflect.get(globalThis, runtimesKey);
  // Holds: nothing else writes under this key.
  if (known instanceof Map) return known as Map<string, SharedSlot>;
  const slots = new Map<string, SharedSlot>();
  Object.defineProperty(globalThis, runtimesKey, { value: slots, configurable: true });
  return slots;
}

function createSlot(slots: Map<string, SharedSlot>, name: string, made: unknown): SharedSlot {
  const slot: SharedSlot = { made, closing: readField(made, closingKey) };
  if (!isThenable(made)) return slot;
  made.then(
    (runtime) => (slot.closing = readField(runtime, closingKey)),
    // The next call tries again; whoever called gets the error.
    () => slots.get(name) === slot && slots.delete(name),
  );
  return slot;
}

/**
 * Returns the runtime of this name in this process, and makes it if there is none: for modules that a bundler loads more than once. One
 * that failed to be made, or was drained, is made again. Returns a promise if `make` does.
 */
export function sharedRuntime<Made extends SessionWorker | Promise<SessionWorker>>(name: string, make: () => Made): Made {
  if (typeof name !== 'string' || name === '')
    throw new InvalidArgumentError(
      `sharedRuntime() needs a name, not ${describeValue(name)}. Pass a string that names the runtime in this process.`,
    );
  if (typeof make !== 'function')
    throw new InvalidArgumentError(`sharedRuntime("${name}") needs a function that creates the runtime, not ${describeValue(make)}.`);
  const slots = getSlots();
  const known = slots.get(name);
  // Holds as long as each name is used for one kind of runtime.
  if (known !== undefined && readField(known.closing, 'aborted') !== true) return known.made as Made;
  const made = make();
  slots.set(name, createSlot(slots, name, made));
  return made;
}
