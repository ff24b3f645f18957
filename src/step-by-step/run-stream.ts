// A run as a stream of events.
// Owns:     the events that its reader has not read yet.
// Does not: slow the run down, or end it.
// V1. The run begins at once and settles without a reader.
// V2. What was not read yet is kept; neighbours that can be merged without loss are merged, nothing else is dropped.
// V3. Leaving the loop detaches: what comes after is not kept for that reader.
// V4. Several may read at once; who comes later hears what is told from then on.
// V5. A run that rejects, for misuse or a failing store, rejects its readers too, behind the last event.
import type { BaseEvent } from '../events/index.ts';
import type { RunControl } from './run-control.ts';
import type { Run } from './runnable.ts';

interface RunStreamOptions<State, Event extends BaseEvent> {
  readonly control: RunControl;
  readonly onEvent?: ((event: Event) => unknown) | undefined;
  readonly start: (onEvent: (event: Event) => unknown) => Promise<State>;
}

export function createRunStream<State, Event extends BaseEvent>({
  control,
  onEvent,
  start,
}: RunStreamOptions<State, Event>): Run<State, Event> {
  // What nobody has read yet goes to the first reader; each reader then has a queue of its own.
  let unread: Event[] | undefined = [];
  const readers = new Set<Event[]>();
  let over = false;
  let sleepers: (() => void)[] = [];

  const keep = (queue: Event[], event: Event): void => {
    const last: BaseEvent | undefined = queue.at(-1);
    // Holds because merging gives an event of the same kind.
    const merged = last?.merge?.(event) as Event | undefined;
    if (merged === undefined) queue.push(event);
    else queue[queue.length - 1] = merged;
  };
  const wake = (): void => {
    const woken = sleepers;
    sleepers = [];
    for (const resolve of woken) resolve();
  };
  const result = start((event) => {
    if (unread !== undefined) keep(unread, event);
    for (const queue of readers) keep(queue, event);
    wake();
    return onEvent?.(event);
  });
  let rejection: { readonly error: unknown } | undefined;
  const end = (): void => {
    over = true;
    wake();
  };
  // Also keeps a rejection that nobody awaits from being reported as unhandled; whoever awaits `result` still gets it.
  result.then(end, (error: unknown) => {
    rejection = { error };
    end();
  });

  async function* read(): AsyncGenerator<Event, void, undefined> {
    const queue = unread ?? [];
    unread = undefined;
    readers.add(queue);
    try {
      for (;;) {
        const event = queue.shift();
        if (event !== undefined) yield event;
        else if (rejection !== undefined) throw rejection.error;
        else if (over) return;
        else
          await new Promise<void>((resolve) => {
            sleepers.push(resolve);
          });
      }
    } finally {
      readers.delete(queue);
    }
  }

  return {
    result,
    requestStop: (reason = '') => {
      control.requestStop(reason);
    },
    [Symbol.asyncIterator]: read,
  };
}

/** A run whose end is given in another form. */
export function settledAs<State, Event extends BaseEvent, Result>(
  run: Run<State, Event>,
  toResult: (state: State) => Result | Promise<Result>,
): AsyncIterable<Event> & { readonly result: Promise<Result>; requestStop(reason?: string): void } {
  const result = run.result.then(toResult);
  // Keeps a rejection that nobody awaits from being reported as unhandled; whoever awaits it still gets it.
  result.catch(() => undefined);
  return {
    result,
    requestStop: (reason) => {
      run.requestStop(reason);
    },
    [Symbol.asyncIterator]: () => run[Symbol.asyncIterator](),
  };
}
