import type { WorkerInfo } from '../index.ts';
import type { Statement } from './statement.ts';

/** The parts of statements that databases say in different words. */
export interface Dialect {
  /** The time on the clock of the store, in milliseconds since the epoch, or SQL for it. */
  now(): number | Statement;
  /** The highest number that a session has, or 0. */
  readonly lastNum: string;
  /** Gives numbers to new sessions, as `num`. */
  nextNums(count: number): Statement;
  /** Finds sessions without a header between two numbers: their `num` and `id`. */
  findLost(lowest: number, highest: number): Statement;
  /** Moves committed entries into the feed, up to a page; `more` is true if some may be left. Absent if entries are added to the feed at once. */
  readonly numberFeed?: string;
  /** The column by which the mail of a request is found, with the id of the request. */
  readonly mailKey: 'session' | 'session_id';
  /** True if the workers that have to look are chosen and called: batches then read all of them. */
  readonly wakes: boolean;
  /** Ends a `SELECT` of rows to change: it locks them, in their order. */
  readonly lock: string;
  /** Ends a `SELECT` of rows to change: those that are locked are left out. */
  readonly skipLocked: string;
  /** Adds a worker, or replaces it. */
  joinWorker(info: WorkerInfo, room: number): Statement;
  /** Notes a sign of life of a worker. Returns its `id` if it is known. */
  beatWorker(id: string, room: number): Statement;
  /** Reads `id`, `body`, `room`, `beats`, `silent_ms`, `is_connected` and the number of `sessions` of all workers. */
  listWorkers(): Statement;
}
