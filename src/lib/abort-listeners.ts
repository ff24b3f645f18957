// Waiting for a signal to abort.
// Owns:     the one listener that all waits on a shared signal have in common.
// Does not: share a signal by itself. The listener stays on the signal, and a signal of the host's may outlive us by far.
// A1. Every listener is called once, when the signal aborts or at once if it has; not after it has left.

type Listener = () => void;

/** The listeners of each shared signal; empty until the first. */
const shared = new WeakMap<AbortSignal, Listener[]>();

const leaveNothing = (): void => undefined;

/** Lets everybody who waits on a signal share one listener: to add and remove one costs more than many a step does otherwise. */
export function shareAbortListener(signal: AbortSignal): void {
  shared.set(signal, []);
}

function joinListeners(signal: AbortSignal, listeners: Listener[], listener: Listener): () => void {
  // A place that somebody left stays, and is taken by the next one.
  if (listeners.length === 0) {
    signal.addEventListener('abort', () => listeners.splice(0).forEach((each) => each()), { once: true });
  }
  const free = listeners.indexOf(leaveNothing);
  const place = free === -1 ? listeners.length : free;
  listeners[place] = listener;
  return () => {
    if (listeners[place] === listener) listeners[place] = leaveNothing;
  };
}

/** Calls the listener when the signal aborts; at once if it has. Returns a function that leaves. */
export function onAbort(signal: AbortSignal | undefined, listener: Listener): () => void {
  if (signal === undefined) return leaveNothing;
  if (signal.aborted) {
    listener();
    return leaveNothing;
  }
  const listeners = shared.get(signal);
  if (listeners !== undefined) return joinListeners(signal, listeners, listener);
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}
