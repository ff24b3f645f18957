import type { JsonObject } from '../../lib/index.ts';
import { defaultRedactor, isRecord } from '../../lib/index.ts';
import type { RunState } from '../../step-by-step/index.ts';
import { computeApprovalDigest, findAskedCalls } from '../core/approval-digest.ts';
import { getOwnMessage, readSentMessage, toReadError } from '../core/entries.ts';
import type { ParsedEventsOptions } from '../core/parse-input.ts';
import type { SessionHost } from './session-host.ts';
import type { StoredEvent } from '../core/stored-events.ts';
import { readEvents } from '../core/stored-events.ts';

/** Events of a session that are read. */
interface EventRange extends ParsedEventsOptions {
  readonly sessionId: string;
}

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

/** Reads the stored events after a number, in order; then, if they are followed, those that are stored later. */
export function followEvents(host: SessionHost, range: EventRange): AsyncIterable<StoredEvent> {
  return {
    [Symbol.asyncIterator]: () => {
      const leaving = new AbortController();
      const ends = [host.closing, leaving.signal, ...(range.signal === undefined ? [] : [range.signal])];
      const events = readEventsAfter(host, range, ends);
      return {
        next: () => events.next(),
        // A reader that leaves while it waits is not kept waiting.
        return: () => {
          leaving.abort();
          return events.return();
        },
      };
    },
  };
}

async function* readEventsAfter(
  host: SessionHost,
  { sessionId, fromSeq, follow, redact }: EventRange,
  ends: readonly AbortSignal[],
): AsyncGenerator<StoredEvent, void, undefined> {
  const getState = (): Promise<RunState> => host.readState(sessionId);
  await getState();
  const news = { hasMore: false, wake: (): void => undefined };
  const onMore = (): void => {
    news.hasMore = true;
    news.wake();
  };
  const unfollow = host.follow(sessionId, onMore);
  for (const signal of ends) signal.addEventListener('abort', onMore);
  try {
    for (let seq = fromSeq; ;) {
      const entries = await host.store.entries(sessionId, { afterSeq: seq, limit: 200 });
      for (const entry of entries) {
        const { events = '[{}]', lastSeq = seq } = entry;
        const getMessage = async (n: number): Promise<JsonObject | undefined> =>
          n === entry.n ? getOwnMessage(entry) : readSentMessage(host.store, sessionId, n);
        const read = await readEvents(events, { sessionId, getState, getMessage }).catch((error: unknown) =>
          Promise.reject(toReadError(sessionId, error)),
        );
        for (const event of await withDigests(sessionId, read)) if (event.seq > seq) yield redact ? redactEvent(event) : event;
        seq = lastSeq;
      }
      if (entries.length > 0) continue;
      if (!follow || ends.some(({ aborted }) => aborted)) return;
      // A session that was deleted meanwhile has nothing more to say: reading it throws.
      if ((await host.store.effects(sessionId, { prefix: 'none' })) === undefined) await getState();
      // A call that came while nobody waited counts too.
      if (!news.hasMore) await new Promise<void>((resolve) => (news.wake = resolve));
      news.hasMore = false;
    }
  } finally {
    unfollow();
    for (const signal of ends) signal.removeEventListener('abort', onMore);
  }
}
