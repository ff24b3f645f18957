// The feed and the notes of stores in memory.
import { omitUndefined } from '../../lib/index.ts';
import type { Place } from './memory-place.ts';
import { checkNotDeleted } from './memory-place.ts';
import { checkNote, parseNoteQuery } from './check-write.ts';
import { parseFeedQuery, toFeedCursor } from './feed-place.ts';
import type { FeedEntry, FeedPage, FeedQuery, LogEntry, NoteQuery, NoteWrite, StoredNote } from './session-store.ts';

/** Adds entries to the feed in the moment in which they are stored. */
export function addToFeed(place: Place, sessionId: string, entries: readonly LogEntry[]): void {
  for (const { n, events } of entries) if (events !== undefined) place.feed.set((place.fed += 1), { sessionId, n });
}

export function readFeed({ feed, fed, sessions }: Place, query: FeedQuery): FeedPage {
  const { place, tenant, limit } = parseFeedQuery(query);
  if (place.type === 'end') return { entries: [], cursor: toFeedCursor(fed), hasMore: false };
  const after = place.num;
  const looked = [...feed].filter(([num]) => num > after).slice(0, limit);
  const entries = looked.flatMap(([num, { sessionId, n }]): readonly FeedEntry[] => {
    const { header, entries: log } = sessions.get(sessionId) ?? {};
    const entry = log?.[n - 1];
    if (header === undefined || entry?.events === undefined || (tenant !== undefined && header.tenant !== tenant)) return [];
    return [{ cursor: toFeedCursor(num), sessionId, header, entry }];
  });
  return { entries, cursor: toFeedCursor(looked.at(-1)?.[0] ?? after), hasMore: looked.length === limit };
}

export function listNotes({ notes }: Place, query: NoteQuery): readonly StoredNote[] {
  const { prefix, after, limit } = parseNoteQuery(query);
  return [...notes.values()]
    .filter(({ name }) => name.startsWith(prefix) && name > after)
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .slice(0, limit);
}

export function writeNote(place: Place, note: NoteWrite): boolean {
  checkNote(note);
  const { notes } = place;
  const { name, version, body, sessionId } = note;
  if (sessionId !== undefined && body !== undefined) checkNotDeleted(place, sessionId);
  if ((notes.get(name)?.version ?? 0) !== version) return false;
  if (body === undefined) return notes.delete(name);
  notes.set(name, Object.freeze(omitUndefined({ name, version: version + 1, body, sessionId })));
  return true;
}
