// One attempt at delivering a commit.
import type { Clock } from '../../lib/index.ts';
import { aborted, defaultRedactor, omitUndefined, readField, untilAborted } from '../../lib/index.ts';
import { createDigest } from '../core/approval-digest.ts';
import type { FedCommit } from '../feed/feed-reader.ts';
import type { EventDelivery, SendEvents } from './delivery.ts';

/** Result of an attempt. */
export type Sent = { readonly ok: true } | { readonly ok: false; readonly error: string; readonly retryAfterMs?: number };

/** Number of the last event before a commit. */
export const getAfterSeq = ({ events }: Pick<FedCommit, 'events'>): number => (events[0]?.seq ?? 1) - 1;

/** Returns the id that the events of a commit have under a name, whoever delivers them and how often. */
export const createDeliveryId = async (name: string, { sessionId, events, lastSeq }: FedCommit): Promise<string> =>
  (await createDigest({ name, sessionId, first: events[0]?.seq ?? 0, last: lastSeq })).slice(0, 32);

function describeFailure(error: unknown): Sent {
  const text = error instanceof Error ? error.message : String(error);
  const retryAfterMs = readField(error, 'retryAfterMs');
  const more = typeof retryAfterMs === 'number' && retryAfterMs > 0 ? { retryAfterMs } : {};
  return { ok: false, error: defaultRedactor.text(text).slice(0, 500), ...more };
}

/** Sends a commit. Settles in time, whatever `send` does. */
export async function sendCommit(
  send: SendEvents,
  { commit, name, attempt }: { readonly commit: FedCommit; readonly name: string; readonly attempt: number },
  { clock, timeoutMs }: { readonly clock: Clock; readonly timeoutMs: number },
): Promise<Sent> {
  const id = await createDeliveryId(name, commit);
  const { sessionId, tenant, owner, agent, events } = commit;
  const delivery: EventDelivery = omitUndefined({ id, name, attempt, sessionId, tenant, owner, agent, events });
  const timeout = new AbortController();
  const late = `no answer within ${timeoutMs} ms`;
  const cancel = clock.schedule(timeoutMs, () => timeout.abort(new Error(late)));
  const work = async (): Promise<unknown> => send(delivery, { signal: timeout.signal });
  try {
    return (await untilAborted(work(), timeout.signal)) === aborted ? { ok: false, error: late } : { ok: true };
  } catch (error) {
    return describeFailure(error);
  } finally {
    cancel();
  }
}
