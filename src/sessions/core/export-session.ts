// Everything that is stored of a session, as plain data.
// P1. A session that cannot be read is named with the reason; it is never left out.
// P2. All of it is of one moment, also while the session runs.
import { readJson } from '../../lib/index.ts';
import type { ListedSession, LogEntry, SessionReader, StoredSession } from '../store/session-store.ts';
import { readActions, readEntriesFrom, replay, toReadError } from './entries.ts';
import { hasCode } from './errors.ts';
import type { FindStates } from './read-session.ts';
import { readHeader } from './session.ts';
import type { ExportedSession } from './session-runtime.ts';
import { readEvents } from './stored-events.ts';

async function toExported(stored: StoredSession, entries: readonly LogEntry[], findStates: FindStates): Promise<ExportedSession> {
  const { kind, entryFence: _, ...session } = readHeader(stored.header);
  const states = findStates(session.agent.id, kind);
  const { state } = replay(entries, states);
  const events = entries.flatMap((entry) => readEvents(session.id, entry));
  return { session, actions: readActions(entries), events, state: readJson(JSON.parse(states.stringify(state)), 'state') };
}

/** Reads everything that is stored of a session. Returns undefined if it was deleted since it was listed. */
export async function exportSession(
  reader: SessionReader,
  { id, damage }: ListedSession,
  findStates: FindStates,
): Promise<ExportedSession | undefined> {
  try {
    const stored = await reader.log.load(id);
    if (stored === undefined) return undefined;
    const exported = await toExported(stored, (await readEntriesFrom(reader, id, 1)).slice(0, stored.head), findStates);
    // What others have found damaged is not vouched for, although it can be read.
    return damage === undefined ? exported : { ...exported, damage };
  } catch (thrown) {
    const error = toReadError(id, thrown);
    if (hasCode(error, 'session-deleted', 'unknown-session')) return undefined;
    // These say nothing about other sessions.
    if (!hasCode(error, 'session-damaged', 'wrong-kind', 'newer-schema', 'unknown-agent')) throw error;
    const found = 'damage' in error && typeof error.damage === 'string' ? error.damage : error.message;
    return { session: { id, damage: damage ?? found }, damage: damage ?? found };
  }
}
