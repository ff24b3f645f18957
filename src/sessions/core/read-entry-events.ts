// The events of one entry, as readers get them.
import type { JsonObject } from '../../lib/index.ts';
import { defaultRedactor, isRecord } from '../../lib/index.ts';
import type { RunState } from '../../step-by-step/index.ts';
import type { LogEntry, SessionReader } from '../store/session-store.ts';
import { computeApprovalDigest, findAskedCalls } from './approval-digest.ts';
import { getOwnMessage, readSentMessage, toReadError } from './entries.ts';
import type { StoredEvent } from './stored-events.ts';
import { readEvents } from './stored-events.ts';

/** Replaces secrets in an event. The fields that identify it, or approve a call, stay. */
function redactEvent(event: StoredEvent): StoredEvent {
  const { type, id, seq, at, agentId, executionId, stepNumber, digest } = event;
  const redacted = defaultRedactor.value(event);
  const known = { type, id, seq, at, agentId, executionId, stepNumber };
  return { ...(isRecord(redacted) ? redacted : {}), ...known, ...(digest !== undefined && { digest }) };
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
  readonly reader: Pick<SessionReader, 'log'>;
  readonly getState: () => Promise<RunState | undefined>;
  /** Only those that this returns true for. @default all */
  readonly isWanted?: (event: StoredEvent) => boolean;
  /** Replaces obvious secrets. @default false */
  readonly redact?: boolean;
}

/** Reads the events of an entry. Rejects with `SessionDamagedError` if they are damaged. */
export async function readEntryEvents(sessionId: string, entry: LogEntry, options: EntryEventsOptions): Promise<readonly StoredEvent[]> {
  const { reader, getState, isWanted = () => true, redact = false } = options;
  const getMessage = async (n: number): Promise<JsonObject | undefined> =>
    n === entry.n ? getOwnMessage(entry) : readSentMessage(reader, sessionId, n);
  try {
    const events = await withDigests(sessionId, await readEvents(entry.events ?? '[{}]', { sessionId, getState, getMessage }, isWanted));
    const wanted = events.filter(isWanted);
    return redact ? wanted.map(redactEvent) : wanted;
  } catch (error) {
    throw toReadError(sessionId, error);
  }
}
