// The bus
// Owns:     who hears which event, and in which order.
// Does not: keep events, number them, or know what they mean.
// B1. Listeners of a type hear in the order they joined; wiretaps hear after them.
// B2. A listener that throws or rejects is reported and changes nothing: not the run, not the other listeners.
// B3. A listener that joins or leaves while an event is told takes effect with the next event.
// B4. A listener's promise is never awaited.
import type { BaseEvent } from './base-event.ts';
import type { EventSink, ProblemReporter } from './event-sink.ts';
import { reportToConsole } from './event-sink.ts';

/** The event of a union that has this type; any event if the union is not known. */
export type EventOfType<Event extends BaseEvent, Type extends Event['type']> = string extends Event['type']
  ? Event
  : Extract<Event, { readonly type: Type }>;

/** Stops the listening that returned it. */
export type Unsubscribe = () => void;

/** Tells events to listeners. */
export interface EventBus<Event extends BaseEvent = BaseEvent> extends EventSink<Event> {
  /** Hears the events of one type. */
  readonly on: <Type extends Event['type']>(type: Type, listener: (event: EventOfType<Event, Type>) => unknown) => Unsubscribe;
  /** Hears everything. */
  readonly wiretap: (listener: (event: Event) => unknown) => Unsubscribe;
}

type Listener<Event> = (event: Event) => unknown;

/** Makes a bus. `onProblem` hears what listeners throw. */
export function createEventBus<Event extends BaseEvent = BaseEvent>(onProblem: ProblemReporter = reportToConsole): EventBus<Event> {
  const byType = new Map<string, readonly Listener<Event>[]>();
  let wiretaps: readonly Listener<Event>[] = [];

  const tell = (listener: Listener<Event>, event: Event): void => {
    tellListener(listener, event, onProblem);
  };

  return {
    emit: (event) => {
      // Both lists are replaced, never changed, so these are the listeners of this moment (B3).
      const typed = byType.get(event.type);
      const taps = wiretaps;
      if (typed !== undefined) for (const listener of typed) tell(listener, event);
      for (const listener of taps) tell(listener, event);
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

/** Reports without ever throwing itself: a reporter that fails has nobody left to tell. */
export function reportSafely(onProblem: ProblemReporter, error: unknown, where: string): void {
  try {
    onProblem(error, where);
  } catch {
    // Nobody is left to tell.
  }
}

/** Tells one listener, and reports instead of throwing. */
export function tellListener<Event extends BaseEvent>(listener: Listener<Event>, event: Event, onProblem: ProblemReporter): void {
  const report = (error: unknown): void => {
    reportSafely(onProblem, error, `a listener of ${event.type}`);
  };
  try {
    const answer = listener(event);
    if (answer instanceof Promise) answer.catch(report);
  } catch (error) {
    report(error);
  }
}
