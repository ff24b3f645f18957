// One attempt at delivering a commit.
import type { Clock } from '../../lib/index.ts';
import { defaultRedactor, readField } from '../../lib/index.ts';
import { createDigest } from '../core/approval-digest.ts';
import type { FedCommit } from '../feed/feed-reader.ts';
import type { EventDelivery, SendEvents } from './delivery.ts';

/** Result of an attempt. */
export type Sent = { readonly ok: true } | { readonly ok: false; readonly error: string; readonly retryAfterMs?: number };

/** Number of the last event before a commit. */
export const getAfterSeq = ({ events }: Pick<FedCommit, 'events'>): number => (events[0]?.seq ?? 1) - 1;

/** Returns the id that the events of a commit have under a name, whoever delivers them and how often. */
export const createDeliveryId = async (name: string, { facts, events, lastSeq }: FedCommit): Promise<string> =>
  (await createDigest({ name, sessionId: facts.id, first: events[0]?.seq ?? 0, last: lastSeq })).slice(0, 32);

async function toDelivery(name: string, commit: FedCommit, attempt: number): Promise<EventDelivery> {
  const { id: sessionId, tenant, owner, agent } = commit.facts;
  const found = { ...(tenant !== undefined && { tenant }), ...(owner !== undefined && { owner }) };
  return { id: await createDeliveryId(name, commit), name, attempt, sessionId, ...found, agent, events: commit.events };
}

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
  const timeout = new AbortController();
  const delivery = await toDelivery(name, commit, attempt);
  let cancel = (): void => undefined;
  const late = new Promise<Sent>((resolve) => {
    cancel = clock.schedule(timeoutMs, () => {
      const error = `no answer within ${timeoutMs} ms`;
      timeout.abort(new Error(error));
      resolve({ ok: false, error });
    });
  });
  const work = async (): Promise<Sent> => {
    try {
      await send(delivery, { signal: timeout.signal });
      return { ok: true };
    } catch (error) {
      return describeFailure(error);
    }
  };
  const sent = await Promise.race([work(), late]);
  cancel();
  return sent;
}
