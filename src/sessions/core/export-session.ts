// Everything that is stored of a session, as plain data.
// P1. A session that cannot be read is named with the reason; it is never left out.
// P2. All of it is of one moment, also while the session runs.
import { readJson, SteplineError } from '../../lib/index.ts';
import type { ListedSession, LogEntry, SessionReader, StoredSession } from '../store/session-store.ts';
import { readActions, replay, toReadError } from './entries.ts';
import type { FindStates } from './read-session.ts';
import { readHeader } from './session.ts';
import type { ExportedSession } from './session-runtime.ts';
import { readEvents } from './stored-events.ts';

/** Errors of a session that cannot be read here. They say nothing about other sessions. */
const unreadable = ['session-damaged', 'wrong-kind', 'newer-schema', 'unknown-agent'];

/** Errors of a session that is gone. */
const gone = ['session-deleted', 'unknown-session'];

async function readEntriesUntil(reader: SessionReader, sessionId: string, head: number): Promise<readonly LogEntry[]> {
  const all: LogEntry[] = [];
  for (;;) {
    const page = await reader.log.entries(sessionId, { from: all.length + 1, to: head });
    all.push(...page);
    if (page.length === 0 || all.length >= head) return all;
  }
}

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
    const exported = await toExported(stored, await readEntriesUntil(reader, id, stored.head), findStates);
    // What others have found damaged is not vouched for, although it can be read.
    return damage === undefined ? exported : { ...exported, damage };
  } catch (thrown) {
    const error = toReadError(id, thrown);
    if (SteplineError.is(error) && gone.includes(error.code)) return undefined;
    if (!SteplineError.is(error) || !unreadable.includes(error.code)) throw error;
    const found = 'damage' in error && typeof error.damage === 'string' ? error.damage : error.message;
    return { session: { id, damage: damage ?? found }, damage: damage ?? found };
  }
}
