// The open step, for a reader that may be slow.
// Owns:     what was read of the open step and not sent yet.
// Does not: know envelopes, or the stored events.
// F1. It reads as fast as the step is written, so that a reader never slows anything down.
// F2. It keeps no more than the limit. Then it stops reading; once everything is taken, it reads the step as it is by then, and leaves out
//     what it has passed on. A reader that fell behind goes on without a gap, or with a later attempt or step.
import type { OpenStepItem, SessionRuntime } from '../../../sessions/index.ts';
import { OpenStepPosition } from './open-step-position.ts';

export interface OpenStepFeedOptions {
  readonly runtime: Pick<SessionRuntime, 'openStep'>;
  readonly sessionId: string;
  readonly maxBytes: number;
  /** Ends the feed. */
  readonly signal: AbortSignal;
  /** Called when there is something to take. */
  readonly onMore: () => void;
}

type TextItem = Extract<OpenStepItem, { readonly type: 'text' }>;

/** Bytes of an item beside its text. */
const itemBytes = 200;

const measure = (item: OpenStepItem): number => {
  if (item.type === 'text') return 2 * item.text.length + itemBytes;
  return item.type === 'event' ? 2 * JSON.stringify(item.event).length + itemBytes : itemBytes;
};

const isContinued = (last: OpenStepItem | undefined, next: TextItem): last is TextItem =>
  last?.type === 'text' &&
  last.kind === next.kind &&
  last.participant === next.participant &&
  last.afterEntry === next.afterEntry &&
  last.attempt === next.attempt &&
  last.answer === next.answer;

/** Returns the beginning of a text, without splitting a character. */
function truncateText(text: string, length: number): string {
  const cut = text.slice(0, Math.max(1, length));
  return cut.length < text.length && cut.length > 1 && /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}

export class OpenStepFeed {
  readonly #options: OpenStepFeedOptions;
  readonly #position = new OpenStepPosition();
  #items: OpenStepItem[] = [];
  #bytes = 0;
  #reading: AbortController | undefined;
  #isOver = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(options: OpenStepFeedOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#reading?.abort(), { once: true });
  }

  /** Bytes that are kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the next item; undefined if there is none yet. Throws if reading failed. */
  take(): OpenStepItem | undefined {
    const item = this.#items.shift();
    if (item !== undefined) {
      this.#bytes -= measure(item);
      return item;
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    if (this.#reading === undefined && !this.#isOver) this.#start();
    return undefined;
  }

  #start(): void {
    if (this.#options.signal.aborted) return;
    this.#reading = new AbortController();
    void this.#read(this.#reading.signal);
  }

  async #read(signal: AbortSignal): Promise<void> {
    const { runtime, sessionId, onMore } = this.#options;
    try {
      for await (const item of runtime.openStep(sessionId, { follow: true, signal })) {
        for (const each of this.#position.skip(item)) if (!signal.aborted) this.#add(each);
        onMore();
        if (signal.aborted) return;
      }
      this.#isOver = true;
    } catch (error) {
      if (!signal.aborted) this.#failure = { error };
    }
    onMore();
  }

  #add(item: OpenStepItem): void {
    const room = this.#options.maxBytes - this.#bytes;
    const kept = item.type === 'text' ? { ...item, text: truncateText(item.text, (room - itemBytes) / 2) } : item;
    this.#position.advance(kept);
    const last = this.#items.at(-1);
    if (kept.type === 'text' && isContinued(last, kept)) {
      this.#items[this.#items.length - 1] = { ...last, text: last.text + kept.text };
      this.#bytes += 2 * kept.text.length;
    } else {
      this.#items.push(kept);
      this.#bytes += measure(kept);
    }
    const isCut = kept.type === 'text' && item.type === 'text' && kept.text.length < item.text.length;
    if (!isCut && this.#bytes < this.#options.maxBytes) return;
    this.#reading?.abort();
    this.#reading = undefined;
  }
}
