// A run as a stream of events.
// Owns:     the events that its reader has not read yet.
// Does not: slow the run down, or end it.
// V1. The run starts at once and settles without a reader.
// V2. Unread events are kept; adjacent ones that can be merged without loss are merged, and none is dropped.
// V3. Leaving the loop detaches: later events are not kept for that reader.
// V4. Several readers may read at once; a later reader receives the events emitted from then on.
// V5. A run that rejects, for misuse or a failing store, rejects its readers too, after the last event.
import type { BaseEvent } from '../events/index.ts';
import type { RunControl } from './run-control.ts';
import type { Run } from './orchestrator.ts';
import type { RunResult } from './run-result.ts';
import type { RunState } from './run-state.ts';

interface RunStreamOptions<State extends RunState, Output, Event extends BaseEvent> {
  readonly control: RunControl;
  readonly onEvent?: ((event: Event) => unknown) | undefined;
  readonly start: (onEvent: (event: Event) => unknown) => Promise<State>;
  readonly toResult: (state: State) => Promise<RunResult<State, Output>>;
}

export function createRunStream<State extends RunState, Output, Event extends BaseEvent>({
  control,
  onEvent,
  start,
  toResult,
}: RunStreamOptions<State, Output, Event>): Run<State, Output, Event> {
  // Unread events go to the first reader; after that, each reader has its own queue.
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
    if (sleepers.length === 0) return;
    const woken = sleepers;
    sleepers = [];
    for (const resolve of woken) resolve();
  };
  const end = start((event) => {
    if (unread !== undefined) keep(unread, event);
    if (readers.size > 0) for (const queue of readers) keep(queue, event);
    wake();
    return onEvent?.(event);
  });
  let rejection: { readonly error: unknown } | undefined;
  const close = (): void => {
    over = true;
    wake();
  };
  end.then(close, (error: unknown) => {
    rejection = { error };
    close();
  });
  const result = end.then(toResult);
  // Keeps a rejection that nobody awaits from being reported as unhandled; whoever awaits `result` still gets it.
  result.catch(() => undefined);

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
