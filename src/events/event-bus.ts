// The event bus.
// Owns:     which listener receives which event, and in which order.
// Does not: keep events, number them, or know what they mean.
// B1. Listeners of a type are called in the order they were added; wiretaps are called after them.
// B2. A listener that throws or rejects is reported and changes nothing: not the run, not the other listeners.
// B3. Adding or removing a listener while an event is emitted takes effect with the next event.
// B4. A listener's promise is never awaited.
import type { BaseEvent } from './base-event.ts';
import type { EventSink, ProblemReporter } from './event-sink.ts';
import { reportToConsole } from './event-sink.ts';

/** The event of a union that has this type; any event if the union is not known. */
export type EventOfType<Event extends BaseEvent, Type extends Event['type']> = string extends Event['type']
  ? Event
  : Extract<Event, { readonly type: Type }>;

/** Removes the listener. */
export type Unsubscribe = () => void;

/** Emits events to listeners. */
export interface EventBus<Event extends BaseEvent = BaseEvent> extends EventSink<Event> {
  /** Listens to the events of one type. */
  readonly on: <Type extends Event['type']>(type: Type, listener: (event: EventOfType<Event, Type>) => unknown) => Unsubscribe;
  /** Listens to all events. */
  readonly wiretap: (listener: (event: Event) => unknown) => Unsubscribe;
}

type Listener<Event> = (event: Event) => unknown;

/** Creates a bus. `onProblem` receives the errors of listeners. */
export function createEventBus<Event extends BaseEvent = BaseEvent>(onProblem: ProblemReporter = reportToConsole): EventBus<Event> {
  const byType = new Map<string, readonly Listener<Event>[]>();
  let wiretaps: readonly Listener<Event>[] = [];

  const notify = (listener: Listener<Event>, event: Event): void => {
    notifyListener(listener, event, onProblem);
  };

  return {
    emit: (event) => {
      // Both lists are replaced, never changed, so these are the listeners of this moment (B3).
      const typed = byType.get(event.type);
      const taps = wiretaps;
      if (typed !== undefined) for (const listener of typed) notify(listener, event);
      for (const listener of taps) notify(listener, event);
    },
    on: (type, listener) => {
      const isOfType = (event: Event): event is EventOfType<Event, typeof type> => event.type === type;
      const entry: Listener<Event> = (event) => (isOfType(event) ? listener(event) : undefined);
      byType.set(type, [...(byType.get(type) ?? []), entry]);
      return () => {
        byType.set(
          type,
          (byType.get(type) ?? []).filter((other) => other !== entry),
        );
      };
    },
    wiretap: (listener) => {
      const entry: Listener<Event> = (event) => listener(event);
      wiretaps = [...wiretaps, entry];
      return () => {
        wiretaps = wiretaps.filter((other) => other !== entry);
      };
    },
  };
}

/** Reports a problem. Never throws, even if the reporter does. */
export function reportSafely(onProblem: ProblemReporter, error: unknown, where: string): void {
  try {
    onProblem(error, where);
  } catch {
    // A failing reporter cannot be reported.
  }
}

function reportListener(event: BaseEvent, error: unknown, onProblem: ProblemReporter): void {
  reportSafely(onProblem, error, `a listener of ${event.type}`);
}

/** Calls one listener; reports its errors instead of throwing. */
export function notifyListener<Event extends BaseEvent>(listener: Listener<Event>, event: Event, onProblem: ProblemReporter): void {
  try {
    const answer = listener(event);
    if (answer instanceof Promise) answer.catch((error: unknown) => reportListener(event, error, onProblem));
  } catch (error) {
    reportListener(event, error, onProblem);
  }
}
