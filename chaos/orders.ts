// What parent and worker know of each other: the orders that a worker gets, the words that it says, and the files that both use.
import { join } from 'node:path';

/** Places at which a worker can be held, to be killed or stopped at exactly that point. */
export const places = [
  'model', // while the model answers
  'before-effect', // inside a `once` tool that has done nothing yet
  'after-effect', // inside a `once` tool that has done its work and not returned
  'intent-asked', // the intent of a call is asked for and not safe
  'intent-safe', // the intent of a call is safe, and nobody has heard of it
  'result-asked', // the result of a call is asked for and not safe
  'commit-asked', // the record of a step is asked for and not safe
  'commit-safe', // the record of a step is safe, and nobody has heard of it
  'act-asked', // the client's request is asked for and not safe
  'act-safe', // the client's request is safe, and nobody has heard of it
  'loading', // while sessions are read again after a kill
] as const;
export type Place = (typeof places)[number];

/** Holds the worker the first time that it comes to a place after this much of the work. */
export interface Hold {
  readonly place: Place;
  /** Steps that must be recorded before. */
  readonly from: number;
  /** Number of times that it passes the place first. */
  readonly passes: number;
  /** Goes on by itself after this time; for ever if it is left out. */
  readonly ms?: number;
}

/** Keeps back the signs of life of the worker for a time, as a bad network does; everything else that it does goes through. */
export interface Mute {
  /** Steps that must be recorded before. */
  readonly from: number;
  readonly ms: number;
}

export interface Orders {
  readonly folder: string;
  readonly sessions: number;
  readonly steps: number;
  /** Number of clients that wait for their session at a time. */
  readonly atOnce: number;
  /** A new one comes after this time. */
  readonly everyMs: number;
  /** Duration of a model call, and of a `once` call, beyond some milliseconds. @default 0 */
  readonly callMs?: number;
  /** Time without a sign of life after which another worker counts as gone. @default that of the runtime */
  readonly silenceMs?: number;
  readonly hold?: Hold;
  readonly mute?: Mute;
}

/** The sessions, what really happened outside, and what the worker was told to be safe. */
export const filesIn = (folder: string): { readonly store: string; readonly world: string; readonly seen: string } => ({
  store: join(folder, 'sessions.sqlite'),
  world: join(folder, 'world.txt'),
  seen: join(folder, 'seen.txt'),
});

/** The last entry and the fence of every session. */
export type Leases = Readonly<Record<string, { readonly head: number; readonly fence: number }>>;

/** A line that a worker prints. */
export type Said =
  | { readonly type: 'progress'; readonly steps: number }
  | { readonly type: 'held'; readonly place: Place }
  /** Nothing of its signs of life reaches the store for a while. */
  | { readonly type: 'mute' }
  /** The sessions of another worker are free; `leases` are those of all sessions right after that. */
  | { readonly type: 'freed'; readonly leases: Leases }
  /** Something went wrong: told to a client, or to nobody in particular. */
  | { readonly type: 'problem'; readonly code: string; readonly where: string; readonly message: string }
  /** Every client has heard the end of its session. */
  | { readonly type: 'done' };
