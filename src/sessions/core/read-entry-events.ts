// The events of one entry, as readers get them.
import { defaultRedactor, isRecord } from '../../lib/index.ts';
import type { LogEntry } from '../store/session-store.ts';
import { computeApprovalDigest, findAskedCalls } from './approval-digest.ts';
import { readStored } from './entries.ts';
import type { StoredEvent } from './stored-events.ts';
import { readEvents } from './stored-events.ts';

/** Replaces secrets in an event. The fields that identify it, or approve a call, stay. */
function redactEvent(event: StoredEvent): StoredEvent {
  const { type, id, seq, at, agentId, executionId, stepNumber } = event;
  const redacted = defaultRedactor.value(event);
  const known = { type, id, seq, at, agentId, executionId, stepNumber, ...('digest' in event && { digest: event.digest }) };
  // Holds: redacting changes texts alone.
  return { ...(isRecord(redacted) ? redacted : {}), ...known } as StoredEvent;
}

/** Adds to each event that asks for an approval the digest that approves exactly that. */
async function withDigests(sessionId: string, events: readonly StoredEvent[]): Promise<readonly StoredEvent[]> {
  const asked = findAskedCalls(sessionId, events);
  if (asked.size === 0) return events;
  return Promise.all(
    events.map(async (event) => {
      const call = asked.get(event);
      return call === undefined ? event : { ...event, digest: await computeApprovalDigest(sessionId, call) };
    }),
  );
}

/** Options for reading the events of an entry. */
export interface EntryEventsOptions {
  /** Only those that this returns true for. @default all */
  readonly isWanted?: (event: StoredEvent) => boolean;
  /** Replaces obvious secrets. @default false */
  readonly redact?: boolean;
}

/** Reads the events of an entry. Rejects with `SessionDamagedError` if they are damaged. */
export async function readEntryEvents(
  sessionId: string,
  entry: LogEntry,
  { isWanted = () => true, redact = false }: EntryEventsOptions = {},
): Promise<readonly StoredEvent[]> {
  const events = await withDigests(
    sessionId,
    readStored(sessionId, () => readEvents(sessionId, entry)),
  );
  const wanted = events.filter(isWanted);
  return redact ? wanted.map(redactEvent) : wanted;
}
