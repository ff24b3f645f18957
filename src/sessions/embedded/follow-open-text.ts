import { toReadError } from '../core/entries.ts';
import type { TextPiece } from '../core/open-text.ts';
import { OpenTextCursor, openTextPrefix, readTextRow } from '../core/open-text.ts';
import type { OpenText, OpenTextOptions } from '../core/session-runtime.ts';
import { UnknownSessionError } from '../core/unknown-session-error.ts';
import type { OpenEffects, SessionStore } from '../store/session-store.ts';
import type { OpenTextHub, TextChange } from './open-text-hub.ts';

/** Sources of the text of open steps. */
export interface OpenTextSources {
  readonly store: Pick<SessionStore, 'effects' | 'load'>;
  /** Calls back when a session may have changed; returns its unsubscribe. */
  readonly follow: (sessionId: string, call: () => void) => () => void;
  /** The text of steps that are open in this process, if it runs sessions. */
  readonly hub?: OpenTextHub;
  /** Ends all readers. */
  readonly closing: AbortSignal;
}

interface TextRange extends OpenTextOptions {
  readonly sessionId: string;
}

/** Reads the text that the open step has written so far; then, if it is followed, the rest as it is written. */
export function followOpenText(sources: OpenTextSources, range: TextRange): AsyncIterable<OpenText> {
  return {
    [Symbol.asyncIterator]: () => {
      const leaving = new AbortController();
      const ends = [sources.closing, leaving.signal, ...(range.signal === undefined ? [] : [range.signal])];
      const texts = readTexts(sources, range, ends);
      return {
        next: () => texts.next(),
        // A reader that leaves while it waits is not kept waiting.
        return: () => {
          leaving.abort();
          return texts.return();
        },
      };
    },
  };
}

/** Reads the stored pieces of one session; of a log that has not grown, only those that are new. */
class StoredTextReader {
  readonly #store: OpenTextSources['store'];
  readonly #sessionId: string;
  #pieces: readonly TextPiece[] = [];
  #head = -1;

  constructor({ store }: OpenTextSources, sessionId: string) {
    this.#store = store;
    this.#sessionId = sessionId;
  }

  /** Undefined if the session is gone. Rejects if it never was. */
  async read(): Promise<readonly TextPiece[] | undefined> {
    const isFirst = this.#head === -1;
    const more = await this.#readRows(this.#pieces.length);
    if (more === undefined) return isFirst ? this.#rejectUnknown() : undefined;
    // The rows are dropped only by an entry.
    const isGrown = more.head === this.#head;
    const rows = isGrown || this.#pieces.length === 0 ? more : await this.#readRows(0);
    if (rows === undefined) return undefined;
    this.#head = rows.head;
    try {
      const read = rows.effects.map(readTextRow);
      this.#pieces = isGrown ? [...this.#pieces, ...read] : read;
    } catch (error) {
      throw toReadError(this.#sessionId, error);
    }
    return this.#pieces;
  }

  #readRows(skip: number): Promise<OpenEffects | undefined> {
    return this.#store.effects(this.#sessionId, { prefix: openTextPrefix, skip });
  }

  async #rejectUnknown(): Promise<never> {
    // Rejects with another error if the session was deleted.
    await this.#store.load(this.#sessionId);
    throw new UnknownSessionError(this.#sessionId);
  }
}

function applyChange(cursor: OpenTextCursor, change: TextChange): readonly OpenText[] {
  switch (change.type) {
    case 'pieces':
      return cursor.take(change.pieces);
    case 'void':
      return cursor.endAttempt();
    case 'recorded':
      return cursor.endStep(change.since);
  }
}

async function* readTexts(
  sources: OpenTextSources,
  { sessionId, follow = false }: TextRange,
  ends: readonly AbortSignal[],
): AsyncGenerator<OpenText, void, undefined> {
  const { hub } = sources;
  const cursor = new OpenTextCursor();
  const stored = new StoredTextReader(sources, sessionId);
  const news = { isStored: true, changes: [] as TextChange[], wake: (): void => undefined };
  const onEnd = (): void => news.wake();
  const unlisten = hub?.listen(sessionId, (change) => {
    news.changes.push(change);
    news.wake();
  });
  const unfollow = sources.follow(sessionId, () => {
    news.isStored = true;
    news.wake();
  });
  for (const signal of ends) signal.addEventListener('abort', onEnd);
  const live = hub?.read(sessionId);
  if (live !== undefined) news.changes.push({ type: 'pieces', pieces: live });
  try {
    for (;;) {
      for (let change = news.changes.shift(); change !== undefined; change = news.changes.shift()) yield* applyChange(cursor, change);
      // The text that is written in this process is whole here; only a part of it may be stored.
      if (news.isStored && hub?.read(sessionId) === undefined) {
        news.isStored = false;
        const pieces = await stored.read();
        if (pieces === undefined) return;
        yield* cursor.takeStored(pieces);
        continue;
      }
      if (news.changes.length > 0) continue;
      if (!follow || ends.some(({ aborted }) => aborted)) return;
      await new Promise<void>((resolve) => (news.wake = resolve));
    }
  } finally {
    unlisten?.();
    unfollow();
    for (const signal of ends) signal.removeEventListener('abort', onEnd);
  }
}
