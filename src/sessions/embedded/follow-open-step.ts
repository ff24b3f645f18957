import type { Json, JsonObject } from '../../lib/index.ts';
import { defaultRedactor, isPlainObject } from '../../lib/index.ts';
import { readStored } from '../core/entries.ts';
import { toOpenEvent } from '../core/open-event.ts';
import type { OpenItem, ReadItem } from '../core/open-step.ts';
import { OpenStepCursor, openStepPrefix, readOpenRow } from '../core/open-step.ts';
import type { OpenEvent, OpenStepItem, OpenStepOptions } from '../core/session-runtime.ts';
import type { FollowSources } from './follow-events.ts';
import { assertReadable } from './follow-events.ts';
import type { News } from './news.ts';
import { followNews } from './news.ts';
import type { OpenStepChange, OpenStepHub } from './open-step-hub.ts';

/** Sources of open steps. */
interface OpenStepSources extends FollowSources {
  /** The steps that are open in this process. */
  readonly openSteps: OpenStepHub;
}

interface OpenStepRange extends OpenStepOptions {
  readonly sessionId: string;
}

/** Reads the text and the events of the open step so far; then, if it is followed, the rest as it comes. */
export const followOpenStep = (sources: OpenStepSources, range: OpenStepRange): AsyncIterable<OpenStepItem> =>
  followNews((news) => readItems(sources, range, news), sources.closing, range.signal);

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

/**
 * Creates a reader of the stored rows of one session's open step; of a log that has not grown, only those are read that are new. It returns
 * undefined if the session is gone, and rejects if it never was.
 */
function createRowReader(store: FollowSources['store'], sessionId: string): () => Promise<readonly OpenItem[] | undefined> {
  const load = (skip: number): ReturnType<typeof store.log.effects> => store.log.effects(sessionId, { prefix: openStepPrefix, skip });
  const nothing = { head: -1, rows: 0, items: [] as readonly OpenItem[] };
  let known = nothing;
  return async () => {
    let before = known;
    let found = await load(before.rows);
    // The rows are dropped only by an entry.
    if (found?.head !== before.head) {
      if (before.rows > 0) found = await load(0);
      before = nothing;
    }
    if (found === undefined && known === nothing) await assertReadable(store, sessionId);
    if (found === undefined) return undefined;
    const { head, effects } = found;
    const items = readStored(sessionId, () => effects.flatMap(readOpenRow));
    known = { head, rows: before.rows + effects.length, items: [...before.items, ...items] };
    return known.items;
  };
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
  { store, watcher, openSteps }: OpenStepSources,
  range: OpenStepRange,
  news: News,
): AsyncGenerator<OpenStepItem, void, undefined> {
  const { sessionId, follow = false } = range;
  const cursor = new OpenStepCursor();
  const readRows = createRowReader(store, sessionId);
  const live = openSteps.read(sessionId);
  const changes: OpenStepChange[] = live === undefined ? [] : [{ type: 'items', items: live }];
  let isStored = true;
  const unlisten = openSteps.listen(sessionId, (change) => {
    changes.push(change);
    news.note();
  });
  const unfollow = watcher.follow(sessionId, () => {
    isStored = true;
    news.note();
  });
  try {
    for (;;) {
      for (let change = changes.shift(); change !== undefined; change = changes.shift())
        for (const item of applyChange(cursor, change)) yield await present(item, range);
      // A step that is open in this process is whole here; only a part of it may be stored.
      if (isStored && !openSteps.has(sessionId)) {
        isStored = false;
        const items = await readRows();
        if (items === undefined) return;
        for (const item of cursor.takeStored(items)) yield await present(item, range);
        continue;
      }
      if (changes.length > 0) continue;
      if (!follow || news.signal.aborted) return;
      await news.wait();
    }
  } finally {
    unlisten();
    unfollow();
  }
}
