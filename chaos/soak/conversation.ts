// One session as a production worker has them: a person asks, readers follow, somebody approves, and it ends.
import type { EmbeddedRuntime, SessionResult } from '../../src/sessions/index.ts';

export interface Place {
  /** Runtime that the person uses: of the worker's process, or of a client. */
  readonly runtime: EmbeddedRuntime;
  /** HTTP handler of the worker. */
  readonly handle: (request: Request) => Promise<Response>;
}

const by = { id: 'ann', kind: 'user' };
const approver = { id: 'bob', kind: 'user' };

async function readAll(items: AsyncIterable<unknown>, signal: AbortSignal): Promise<number> {
  const iterator = items[Symbol.asyncIterator]();
  let count = 0;
  try {
    while ((await iterator.next()).done !== true) count += 1;
  } catch (error) {
    // A reader leaves by its signal; one of a deleted session is told so.
    if (!signal.aborted) throw error;
  }
  return count;
}

/** Follows a session as a page does. */
async function readStream({ handle }: Place, id: string, signal: AbortSignal): Promise<number> {
  const response = await handle(new Request(`http://localhost/sessions/${id}/events`, { signal, headers: { 'x-user': by.id } }));
  if (response.body === null) throw new Error(`No stream of ${id}: ${response.status}.`);
  return readAll(response.body, signal);
}

function follow(place: Place, id: string, index: number): () => Promise<unknown> {
  const leaving = new AbortController();
  const { signal } = leaving;
  const options = { follow: true, signal } as const;
  const readers =
    index % 2 === 0
      ? [readStream(place, id, signal)]
      : [readAll(place.runtime.events(id, options), signal), readAll(place.runtime.openStep(id, options), signal)];
  const all = Promise.allSettled(readers);
  return async () => {
    leaving.abort();
    const failed = (await all).find((each) => each.status === 'rejected');
    if (failed !== undefined && !signal.aborted) throw failed.reason;
  };
}

function assertStatus(result: SessionResult, status: SessionResult['status']): void {
  if (result.status !== status) throw new Error(`Session ${result.sessionId} is ${result.status}, not ${status}: ${result.explain()}`);
}

/** Has a whole conversation. Every fifth is deleted, and of some a message is erased or a fork is made. */
export async function converse(place: Place, index: number): Promise<void> {
  const { runtime } = place;
  const { id } = await runtime.create({ tenant: `t-${index % 50}`, owner: `o-${index % 1000}`, tags: ['soak'] }, { by });
  const leave = follow(place, id, index);
  const asked = await runtime.send(id, `Pay order ${index}`, { by, requestId: `pay-${index}` });
  assertStatus(asked, 'waiting');
  const [wait] = asked.waitingFor;
  if (wait === undefined) throw new Error(`Session ${id} waits for nothing.`);
  assertStatus(await runtime.approve(id, wait, { by: approver }), 'completed');
  assertStatus(await runtime.send(id, `Thank you for order ${index}.`, { by }), 'completed');
  if (index % 7 === 0) {
    const message = (await runtime.get(id)).state.messages.at(0);
    if (message !== undefined) await runtime.eraseMessage(id, message.id, { by });
  }
  if (index % 11 === 0) await runtime.fork(id, { execution: 1, step: 1 }, { by });
  await leave();
  if (index % 5 === 0) await runtime.delete(id, { by });
}
