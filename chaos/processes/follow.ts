// Readers of a client that follow events and open text to the end, as a server with connected pages does.
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { EmbeddedRuntime, StoredEvent } from '../../src/sessions/index.ts';
import type { ClientRecord } from './orders.ts';
import { readCode, readMessage } from './report.ts';

export const hashEvent = (event: StoredEvent): string => createHash('sha1').update(JSON.stringify(event)).digest('hex').slice(0, 16);

export interface FollowOptions {
  readonly runtime: EmbeddedRuntime;
  readonly record: (line: ClientRecord) => void;
  /** Ends all readers. */
  readonly signal: AbortSignal;
}

/** Repeats work after an error, until it ends by itself or is told to. */
async function keepReading(work: () => Promise<void>, where: string, { record, signal }: FollowOptions): Promise<void> {
  while (!signal.aborted) {
    try {
      await work();
      return;
    } catch (error) {
      const code = readCode(error);
      // The session is created later.
      if (code !== 'unknown-session') record({ type: 'error', code, where, message: readMessage(error) });
      await pause(code === 'unknown-session' ? 50 : 200);
    }
  }
}

export interface FollowedFeed {
  readonly done: Promise<void>;
  /** Settles when everything that is stored was seen, or after a while. */
  readonly caughtUp: () => Promise<void>;
}

/** Types of events that are read from the feed: one of each step. */
export const fedTypes: readonly string[] = ['AgentStepCompleted'];

/** Follows the feed after a cursor; after an error, from the last item that was seen. */
export function followFeed(after: string | undefined, options: FollowOptions): FollowedFeed {
  const { runtime, record, signal } = options;
  let cursor = after;
  const read = async (): Promise<void> => {
    for await (const item of runtime.feed({ ...(cursor !== undefined && { after: cursor }), types: fedTypes, follow: true, signal })) {
      record({ type: 'fed', cursor: item.cursor, session: item.sessionId, seq: item.event.seq });
      ({ cursor } = item);
    }
  };
  const hasMore = async (): Promise<boolean> => {
    for await (const _ of runtime.feed({ ...(cursor !== undefined && { after: cursor }), types: fedTypes })) return true;
    return false;
  };
  return {
    done: keepReading(read, 'the feed', options),
    caughtUp: async () => {
      const until = performance.now() + 10_000;
      while ((await hasMore()) && performance.now() < until) await pause(50);
    },
  };
}

export interface FollowedSession {
  /** The number of the last event that was seen. */
  readonly lastSeq: number;
  readonly done: Promise<void>;
}

/** Follows the events of a session after one of them; after an error, from the last one that was seen. */
export function followSessionEvents(
  { session, fromSeq }: { readonly session: string; readonly fromSeq: number },
  options: FollowOptions,
  onEvent: (event: StoredEvent) => void,
): FollowedSession {
  const { runtime, record, signal } = options;
  const followed = { lastSeq: fromSeq, done: Promise.resolve() };
  const read = async (): Promise<void> => {
    for await (const event of runtime.events(session, { fromSeq: followed.lastSeq, follow: true, signal })) {
      record({ type: 'event', session, seq: event.seq, event: event.type, hash: hashEvent(event) });
      followed.lastSeq = event.seq;
      onEvent(event);
    }
  };
  followed.done = keepReading(read, `events of ${session}`, options);
  return followed;
}

/** Follows the open steps of a session. */
export function followOpenSteps(session: string, options: FollowOptions): Promise<void> {
  const { runtime, record, signal } = options;
  return keepReading(
    async () => {
      for await (const item of runtime.openStep(session, { follow: true, signal })) record({ type: 'open', session, item });
    },
    `open step of ${session}`,
    options,
  );
}
