// The events of a session as they come: stored ones, and those of the open step.
// Owns:     the order of stored events and open items in one stream, and the signal that nothing has happened for a while.
// Does not: know envelopes, chunks or HTTP.
// S1. Stored events are passed on once each, in order, beginning after the one that the reader has.
// S2. The items of the open step come after everything that was stored before it began, and not after its record.
// S3. A reader that comes late gets what the open step has so far. One that was too slow goes on with what there is by then.
import type { Clock } from '../../../lib/index.ts';
import type { OpenStepItem, SessionRuntime, StoredEvent } from '../../../sessions/index.ts';
import { EndedSteps, OpenPlace } from './open-place.ts';
import type { Confirmation } from './open-place.ts';
import { OpenStepFeed } from './open-step-feed.ts';

export interface SessionStreamOptions {
  readonly runtime: Pick<SessionRuntime, 'events' | 'openStep'>;
  readonly sessionId: string;
  /** Number of the last event that the reader has. */
  readonly after: number;
  readonly clock: Clock;
  /** Time without anything else after which `idle` is passed on. */
  readonly heartbeatMs: number;
  readonly maxBufferBytes: number;
  /** Ends the stream. */
  readonly signal: AbortSignal;
}

/** An item of the open step that is not over. */
export type LiveItem = Exclude<OpenStepItem, { readonly type: 'recorded' }>;

export type SessionStreamItem =
  /** A stored event, and the place at which it was passed on before, if it was. */
  | { readonly type: 'stored'; readonly event: StoredEvent; readonly confirmed: Confirmation }
  | { readonly type: 'open'; readonly item: LiveItem; readonly place: OpenPlace }
  /** Everything that was stored when the reading began has been passed on. */
  | { readonly type: 'current' }
  | { readonly type: 'idle' };

type Woken = { readonly type: 'stored'; readonly next: IteratorResult<StoredEvent, unknown> } | { readonly type: 'more' };

export class SessionStream {
  readonly #options: SessionStreamOptions;
  readonly #ended = new EndedSteps();
  #seq: number;
  #open: OpenPlace | undefined;
  #wake: () => void = () => undefined;

  constructor(options: SessionStreamOptions) {
    this.#options = options;
    this.#seq = options.after;
  }

  /** Reads until the signal aborts, or the runtime is drained. */
  async *read(): AsyncGenerator<SessionStreamItem, void, undefined> {
    const { runtime, sessionId, signal, maxBufferBytes: maxBytes } = this.#options;
    yield* this.#catchUp();
    yield { type: 'current' };
    const feed = new OpenStepFeed({ runtime, sessionId, maxBytes, signal, onMore: () => this.#wake() });
    const stored = runtime.events(sessionId, { fromSeq: this.#seq, follow: true, signal })[Symbol.asyncIterator]();
    const readStored = (): Promise<Woken> => stored.next().then((next) => ({ type: 'stored', next }));
    const beat = { isDue: false, cancel: (): void => undefined };
    const arm = (): void => {
      beat.cancel = this.#options.clock.schedule(
        this.#options.heartbeatMs,
        () => {
          beat.isDue = true;
          this.#wake();
        },
        true,
      );
    };
    try {
      arm();
      for (let pending = readStored(); ;) {
        const item = feed.take();
        if (item !== undefined) {
          yield* this.#takeOpen(item);
          continue;
        }
        if (beat.isDue) {
          beat.isDue = false;
          arm();
          yield { type: 'idle' };
        }
        if (signal.aborted) return;
        const more = new Promise<Woken>((resolve) => (this.#wake = () => resolve({ type: 'more' })));
        const woken = await Promise.race([pending, more]);
        if (woken.type === 'more') continue;
        if (woken.next.done === true) return;
        yield* this.#takeStored(woken.next.value);
        pending = readStored();
      }
    } finally {
      beat.cancel();
      await stored.return?.();
    }
  }

  /** Passes on what was stored meanwhile. */
  async *#catchUp(): AsyncGenerator<SessionStreamItem, void, undefined> {
    const { runtime, sessionId } = this.#options;
    for await (const event of runtime.events(sessionId, { fromSeq: this.#seq })) yield* this.#takeStored(event);
  }

  *#takeStored(event: StoredEvent): Generator<SessionStreamItem, void, undefined> {
    if (event.seq <= this.#seq) return;
    this.#seq = event.seq;
    const confirmed = this.#open?.confirm(event) ?? {};
    if (this.#ended.note(event) && this.#open !== undefined) this.#open.isOver = true;
    yield { type: 'stored', event, confirmed };
  }

  async *#takeOpen(item: OpenStepItem): AsyncGenerator<SessionStreamItem, void, undefined> {
    if (this.#open?.isSame(item) !== true) {
      // Everything before this attempt is stored.
      if (this.#open?.place.afterEntry !== item.afterEntry) yield* this.#catchUp();
      this.#open = new OpenPlace(item, this.#ended.has(item));
    }
    const open = this.#open;
    if (item.type === 'recorded') {
      if (!open.isOver) yield* this.#catchUp();
      this.#open = undefined;
      return;
    }
    if (open.isOver) return;
    if (item.type === 'event') open.note(item);
    yield { type: 'open', item, place: open };
  }
}
