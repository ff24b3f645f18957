// Changes to a store, as any process makes them.
// Owns:     the connection that listens for them, and looking again and again while none does.
// Does not: read what has changed.
// W1. One connection listens, however many watch; none does if nobody watches.
// W2. Whenever listening begins, everybody is called once: what was stored before may have been missed.
// W3. Neither a timer nor the connection keeps the process from ending.
// W4. Behind a pooler notifications may never arrive, so the store is looked at too.
// W5. A listener that throws harms nobody.
import { crc32 } from 'node:zlib';
import type { Clock } from '../../lib/index.ts';
import { isRecord } from '../../lib/index.ts';
import type { StoreChange } from '../index.ts';
import { getSqlState } from './classify-error.ts';
import type { Query } from './connection.ts';
import { answerInTime, connect, ignoreError, readRow, toLiteral } from './connection.ts';
import type { ParsedOptions } from './postgres-options.ts';
import type { PostgresClient } from './postgres-pool.ts';

/** Time between two looks while no connection listens. */
const lookMs = 1000;
/** Time between two checks of the connection that listens: a network can lose it without a sign. */
const checkMs = 10_000;
const firstPauseMs = 100;
const longestPauseMs = 5000;

/** The longest payload of a notification, in bytes. Postgres allows less than 8,000. */
const longestPayload = 7000;

const longestName = 63;

/** Names the channel of a store. Channels are those of one database. */
export function toChannel(schema: string): string {
  const name = `stepline_${schema}`;
  if (name.length <= longestName) return name;
  const sum = crc32(schema).toString(16).padStart(8, '0');
  return `${name.slice(0, longestName - 9)}_${sum}`;
}

/** Describes a change for `pg_notify`. Leaves the sessions out if they are too many, and the workers too. */
export function toPayload({ sessionIds, hasMail, workers }: StoreChange): string {
  const texts = [{ sessionIds, hasMail, workers }, { hasMail, workers }, { hasMail }].map((each) => JSON.stringify(each));
  const fits = (text: string): boolean => text.length <= longestPayload && Buffer.byteLength(text) <= longestPayload;
  return texts.find(fits) ?? '';
}

/** SQL that calls those who watch. Outside of a transaction: one that notifies has a lock of the whole server from its commit on. */
export const notifyText = (schema: string, change: StoreChange): string =>
  `SELECT pg_notify(${toLiteral(toChannel(schema))}, ${toLiteral(toPayload(change))})`;

/** Joins statements into one message. */
export const joinStatements = (...texts: readonly (string | undefined)[]): string => texts.filter((text) => text !== undefined).join('; ');

/** Runs statements that end with a notification. If the server has no room for it, it is left out: everyone looks again after a second. */
export async function queryAndNotify(query: Query, text: string): Promise<void> {
  await query(text).catch((error: unknown) => {
    if (getSqlState(error) !== '54000') throw error;
  });
}

const anything: StoreChange = { hasMail: true };

const isList = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((each) => typeof each === 'string');

/** Reads a payload. One that says something else stands for any change. */
export function readPayload(text: string | undefined): StoreChange {
  let payload: unknown;
  try {
    payload = JSON.parse(text ?? '');
  } catch {
    return anything;
  }
  if (!isRecord(payload)) return anything;
  const { sessionIds, hasMail, workers } = payload;
  return { ...(isList(sessionIds) && { sessionIds }), hasMail: hasMail !== false, ...(isList(workers) && { workers }) };
}

/** SQL for the start of a process of the server, in a row of `pg_stat_activity`. */
export const listenerStart = (row: string): string => `extract(epoch FROM ${row}.backend_start)::text`;
/** SQL for the start of the server. */
export const serverStart = 'extract(epoch FROM pg_postmaster_start_time())::text';

type Emit = (change: StoreChange) => void;

/** The connection that listens, as the server knows it. */
export interface Listener {
  readonly pid: number;
  /** Start of its process on the server, and of the server. Other numbers: another connection with the same pid. */
  readonly start: string;
  readonly serverStart: string;
}

/** Finds out how the server knows a connection. Undefined if it is not certain that notifications reach it. */
async function findListener(client: PostgresClient, options: ParsedOptions): Promise<Listener | undefined> {
  const text = `SELECT pg_backend_pid()::text AS pid, ${listenerStart('a')} AS start, ${serverStart} AS server_start
    FROM pg_stat_activity a WHERE pid = pg_backend_pid()`;
  const { rows } = await answerInTime(client.query(text), options);
  const row = readRow(rows[0]);
  if (row === undefined || String(row['pid']) !== String(client.processID)) return undefined;
  return { pid: Number(row['pid']), start: String(row['start']), serverStart: String(row['server_start']) };
}

/** Settles after the time, or when the signal aborts. The timer does not keep the process alive. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.schedule(ms, end, true);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}

interface Listening {
  /** Undefined while nothing listens for certain. */
  readonly getListener: () => Listener | undefined;
  /** Settles when the connection is released. */
  readonly stop: () => Promise<void>;
}

function startListening(options: ParsedOptions, emit: Emit): Listening {
  const { clock, pool, listenPool, schema } = options;
  const channel = toChannel(schema);
  const stopping = new AbortController();
  const isOver = (): boolean => stopping.signal.aborted;
  /** Defined while nothing can be missed. */
  let listener: Listener | undefined;

  async function look(): Promise<void> {
    while (!isOver()) {
      await pause(clock, lookMs, stopping.signal);
      // It waits for our connection, or nothing can be read any more.
      if (pool.ending === true || listenPool.ending === true) stopping.abort();
      if (listener === undefined && !isOver()) emit(anything);
    }
  }

  /** Listens on a connection until it is lost, or listening is to stop. */
  async function listen(client: PostgresClient): Promise<void> {
    const loss = new AbortController();
    const ending = AbortSignal.any([stopping.signal, loss.signal]);
    const isEnding = (): boolean => ending.aborted;
    client.on?.('error', () => loss.abort());
    client.on?.('notification', (notification) => {
      if (notification.channel === channel && !isEnding()) emit(readPayload(notification.payload));
    });
    try {
      await answerInTime(client.query(`LISTEN "${channel}"`), options);
      listener = await findListener(client, options);
      client.unref?.();
      if (!isEnding()) emit(anything);
      while (!isEnding()) {
        await pause(clock, checkMs, ending);
        if (!isEnding()) await answerInTime(client.query('SELECT 1'), options);
      }
    } finally {
      listener = undefined;
      loss.abort();
      // Closed: nobody else must get a connection that listens.
      client.release(true);
    }
  }

  async function keepListening(): Promise<void> {
    // A pool of one connection has none to spare for this.
    if (listenPool === pool && (pool.options?.max ?? 2) < 2) return;
    let pauseMs = firstPauseMs;
    while (!isOver()) {
      const began = clock.monotonic();
      const client = await connect({ ...options, pool: listenPool }).catch(ignoreError);
      if (client !== undefined && client.on === undefined) {
        client.release();
        return;
      }
      if (client !== undefined) await listen(client).catch(ignoreError);
      if (clock.monotonic() - began > longestPauseMs) pauseMs = firstPauseMs;
      await pause(clock, pauseMs, stopping.signal);
      pauseMs = Math.min(2 * pauseMs, longestPauseMs);
    }
  }

  const done = Promise.all([look(), keepListening()]);
  return {
    getListener: () => listener,
    stop: async () => {
      stopping.abort();
      await done;
    },
  };
}

/** Calls those who watch a store. */
export interface ChangeFeed {
  watch(listener: (change: StoreChange) => void): () => void;
  /** Returns the connection that listens; undefined if none does. */
  getListener(): Listener | undefined;
  close(): Promise<void>;
}

/** Creates the feed of a store. It needs no connection until somebody watches. */
export function createChangeFeed(options: ParsedOptions): ChangeFeed {
  const listeners = new Set<{ readonly call: Emit }>();
  let listening: Listening | undefined;
  let stopped: Promise<unknown> = Promise.resolve();

  const emit: Emit = (change) => {
    for (const { call } of listeners) {
      try {
        call(change);
      } catch {
        // W5.
      }
    }
  };

  function end(): void {
    if (listening !== undefined) stopped = Promise.all([stopped, listening.stop()]);
    listening = undefined;
  }

  return {
    watch: (call) => {
      const entry = { call };
      listeners.add(entry);
      listening ??= startListening(options, emit);
      return () => {
        listeners.delete(entry);
        if (listeners.size === 0) end();
      };
    },
    getListener: () => listening?.getListener(),
    close: async () => {
      listeners.clear();
      end();
      await stopped;
    },
  };
}
