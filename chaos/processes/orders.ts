// Everything that the parent, its workers and its clients know of each other: orders, commands, reports, and the files they share.
import { join } from 'node:path';
import type { OpenStepItem } from '../../src/sessions/index.ts';

/** The database that all processes share. */
export type Database =
  | { readonly type: 'sqlite'; readonly path: string }
  | { readonly type: 'postgres'; readonly url: string; readonly schema: string; /** File of the package pg. */ readonly pg: string };

/** Time without a sign of life after which a worker counts as gone. */
export const silenceMs = 1500;

/** Points inside a worker's work at which it can be killed. */
export const spots = [
  'model', // while the model answers
  'before-effect', // inside a `once` tool that has done nothing yet
  'after-effect', // inside a `once` tool that has done its work and not returned
  'mail-asked', // the write that applies a client's action is asked for and not safe
  'mail-safe', // that write is safe, and nobody has heard of it
  'intent-safe', // the intent of a call is safe, and the call has not started
  'step-asked', // the record of a step is asked for and not safe
  'step-safe', // the record of a step is safe, and nobody has heard of it
] as const;
export type Spot = (typeof spots)[number];

interface SharedOrders {
  /** Folder of the files below. */
  readonly folder: string;
  readonly database: Database;
  readonly sessions: number;
  readonly steps: number;
  /** Name of the process in all records. */
  readonly name: string;
}

export interface WorkerOrders extends SharedOrders {
  /** True if the store does not keep a worker from writing that has lost a session: for runs that must fail. */
  readonly isUnfenced: boolean;
}

export interface ClientOrders extends SharedOrders {
  /** Number of this client, from 0. */
  readonly client: number;
  readonly clients: number;
  /** Number of its sessions that are in progress at once. */
  readonly atOnce: number;
}

/** A line that the parent writes to a process. */
export type Command =
  /** To a worker: stand still at this spot. */
  | { readonly type: 'hold'; readonly spot: Spot }
  /** To a worker: stand still now, outside of every transaction on SQLite; or be so busy that nothing else moves. */
  | { readonly type: 'freeze' | 'block'; readonly ms: number }
  /** To a worker: models and `once` tools are slow for this time. */
  | { readonly type: 'slow'; readonly ms: number }
  /** To a client: read what is left of the followed events, and end. To a worker: drain, and end. */
  | { readonly type: 'finish' };

/** A line that a process writes to the parent. */
export type Report =
  /** A worker has joined the others under this id; `before` was taken for gone. */
  | { readonly type: 'joined'; readonly id: string; readonly before?: string }
  /** A worker has claimed sessions. Milliseconds since the epoch. */
  | { readonly type: 'claimed'; readonly at: number; readonly sessionIds: readonly string[] }
  /** A write of a worker was refused. */
  | { readonly type: 'refused'; readonly code: string; readonly session: string }
  | { readonly type: 'held' }
  | { readonly type: 'problem'; readonly code: string; readonly where: string; readonly message: string }
  /** A client has seen the end of its sessions, or a process has ended its work. */
  | { readonly type: 'done' };

/** A line in the record of a worker: an entry that is safe. */
export interface WriteRecord {
  readonly session: string;
  readonly n: number;
  readonly step?: number;
  /** Id of the worker and fence with which it was written. */
  readonly worker: string;
  readonly fence: number;
}

/** A line in the record of a client. */
export type ClientRecord =
  /** The client was started, for the first time or again. */
  | { readonly type: 'started' }
  /** An event of the feed. */
  | { readonly type: 'fed'; readonly cursor: string; readonly session: string; readonly seq: number }
  | { readonly type: 'event'; readonly session: string; readonly seq: number; readonly event: string; readonly hash: string }
  /** A piece of the text of an open step, or the end of an attempt. */
  | { readonly type: 'open'; readonly session: string; readonly item: OpenStepItem }
  /** An action that the runtime has accepted. */
  | { readonly type: 'accepted'; readonly session: string; readonly requestId: string }
  /** An approval that was refused: another one came first. */
  | { readonly type: 'refused'; readonly session: string; readonly waitId: string; readonly requestId: string; readonly code: string }
  /** The result of a session's last action. */
  | { readonly type: 'result'; readonly session: string; readonly execution: number; readonly status: string; readonly text: string }
  | { readonly type: 'error'; readonly code: string; readonly where: string; readonly message: string };

/** Files that processes write to: the outside world, and a record of each process. */
export const getFiles = (folder: string): { readonly world: string; readonly record: (name: string) => string } => ({
  world: join(folder, 'world.txt'),
  record: (name) => join(folder, `${name}.jsonl`),
});
