import type { Json, JsonObject } from '../../lib/index.ts';
import { defaultRedactor, isPlainObject } from '../../lib/index.ts';
import { toReadError } from '../core/entries.ts';
import { toOpenEvent } from '../core/open-event.ts';
import type { OpenItem, ReadItem } from '../core/open-step.ts';
import { OpenStepCursor, openStepPrefix, readOpenRow } from '../core/open-step.ts';
import type { OpenEvent, OpenStepItem, OpenStepOptions } from '../core/session-runtime.ts';
import { UnknownSessionError } from '../core/errors.ts';
import type { OpenEffects, SessionStore } from '../store/session-store.ts';
import type { OpenStepChange, OpenStepHub } from './open-step-hub.ts';

/** Sources of open steps. */
export interface OpenStepSources {
  readonly store: Pick<SessionStore, 'log'>;
  /** Calls back when a session may have changed; returns its unsubscribe. */
  readonly follow: (sessionId: string, call: () => void) => () => void;
  /** The steps that are open in this process, if it runs sessions. */
  readonly hub?: OpenStepHub;
  /** Ends all readers. */
  readonly closing: AbortSignal;
}

interface OpenStepRange extends OpenStepOptions {
  readonly sessionId: string;
}

/** Reads the text and the events of the open step so far; then, if it is followed, the rest as it comes. */
export function followOpenStep(sources: OpenStepSources, range: OpenStepRange): AsyncIterable<OpenStepItem> {
  return {
    [Symbol.asyncIterator]: () => {
      const leaving = new AbortController();
      const ends = [sources.closing, leaving.signal, ...(range.signal === undefined ? [] : [range.signal])];
      const items = readItems(sources, range, ends);
      return {
        next: () => items.next(),
        // A reader that leaves while it waits is not kept waiting.
        return: () => {
          leaving.abort();
          return items.return();
        },
      };
    },
  };
}

/** Replaces secrets in an event. The fields that identify it, or approve a call, stay. */
function redactEvent(event: OpenEvent): OpenEvent {
  const { type, at, agentId, executionId, stepNumber } = event;
  const { digest } = event;
  const redacted: Json = defaultRedactor.value(event);
  const rest: JsonObject = isPlainObject(redacted) ? redacted : {};
  return { ...rest, type, at, agentId, executionId, stepNumber, ...(digest !== undefined && { digest }) };
}

/** Makes an item what the reader asked for. */
async function present(item: ReadItem, { sessionId, redact = false }: OpenStepRange): Promise<OpenStepItem> {
  const plain = item.type === 'raw-event' ? await toOpenEvent(sessionId, item) : item;
  return redact && plain.type === 'event' ? { ...plain, event: redactEvent(plain.event) } : plain;
}

/** Reads the stored rows of one session's open step; of a log that has not grown, only those that are new. */
class StoredStepReader {
  readonly #store: OpenStepSources['store'];
  readonly #sessionId: string;
  #items: readonly OpenItem[] = [];
  #rows = 0;
  #head = -1;

  constructor({ store }: OpenStepSources, sessionId: string) {
    this.#store = store;
    this.#sessionId = sessionId;
  }

  /** Undefined if the session is gone. Rejects if it never was. */
  async read(): Promise<readonly OpenItem[] | undefined> {
    const isFirst = this.#head === -1;
    const more = await this.#readRows(this.#rows);
    if (more === undefined) return isFirst ? this.#rejectUnknown() : undefined;
    // The rows are dropped only by an entry.
    const isGrown = more.head === this.#head;
    const rows = isGrown || this.#rows === 0 ? more : await this.#readRows(0);
    if (rows === undefined) return undefined;
    this.#head = rows.head;
    try {
      const read = rows.effects.flatMap(readOpenRow);
      this.#items = isGrown ? [...this.#items, ...read] : read;
      this.#rows = rows.effects.length + (isGrown ? this.#rows : 0);
    } catch (error) {
      throw toReadError(this.#sessionId, error);
    }
    return this.#items;
  }

  #readRows(skip: number): Promise<OpenEffects | undefined> {
    return this.#store.log.effects(this.#sessionId, { prefix: openStepPrefix, skip });
  }

  async #rejectUnknown(): Promise<never> {
    // Rejects with another error if the session was deleted.
    await this.#store.log.load(this.#sessionId);
    throw new UnknownSessionError(this.#sessionId);
  }
}

function applyChange(cursor: OpenStepCursor, change: OpenStepChange): readonly ReadItem[] {
  switch (change.type) {
    case 'items':
      return cursor.take(change.items);
    case 'void':
      return cursor.endAttempt();
    case 'recorded':
      return cursor.endStep(change.afterEntry);
  }
}

async function* readItems(
  sources: OpenStepSources,
  range: OpenStepRange,
  ends: readonly AbortSignal[],
): AsyncGenerator<OpenStepItem, void, undefined> {
  const { hub } = sources;
  const { sessionId, follow = false } = range;
  const cursor = new OpenStepCursor();
  const stored = new StoredStepReader(sources, sessionId);
  const news = { isStored: true, changes: [] as OpenStepChange[], wake: (): void => undefined };
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
  if (live !== undefined) news.changes.push({ type: 'items', items: live });
  try {
    for (;;) {
      for (let change = news.changes.shift(); change !== undefined; change = news.changes.shift())
        for (const item of applyChange(cursor, change)) yield await present(item, range);
      // A step that is open in this process is whole here; only a part of it may be stored.
      if (news.isStored && hub?.has(sessionId) !== true) {
        news.isStored = false;
        const items = await stored.read();
        if (items === undefined) return;
        for (const item of cursor.takeStored(items)) yield await present(item, range);
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
