import type { Clock, IdSource, JsonObject } from '../lib/index.ts';
import {
  cleanText,
  DamagedDataError,
  describeValue,
  InvalidArgumentError,
  isRecord,
  latestTime,
  readAmount,
  readObject,
  readString,
  systemClock,
  systemIds,
} from '../lib/index.ts';

interface StateInfoFields {
  readonly id: string;
  /** Milliseconds since the epoch, like the other times. */
  readonly startedAt: number;
  readonly updatedAt: number;
  /** @default 0 */
  readonly cumulativeExecutionSeconds?: number | undefined;
  readonly executionStartedAt?: number | undefined;
}

/** Sources of time and ids. */
interface Sources {
  readonly clock?: Clock;
  readonly ids?: IdSource;
}

function readTime(input: unknown, path: string): number {
  const text = readString(input, path);
  const time = Date.parse(text);
  if (Number.isNaN(time)) throw new DamagedDataError(path, `expected a date and time, found "${text}"`);
  return time;
}

function readId(input: unknown, path: string): string {
  const id = readString(input, path);
  if (id === '') throw new DamagedDataError(path, 'expected a non-empty string, found ""');
  return id;
}

// Sums of times are stored with every step; what stands behind the microsecond is noise.
const roundToMicroseconds = (seconds: number): number => Math.round(seconds * 1_000_000) / 1_000_000;

const isTime = (value: unknown): boolean => typeof value === 'number' && Math.abs(value) <= latestTime;

const isAmount = (value: unknown): boolean => typeof value === 'number' && value >= 0 && value < Infinity;

function findProblem(fields: unknown): string | undefined {
  if (!isRecord(fields)) return `its parts must be an object, not ${describeValue(fields)}`;
  const { id, startedAt, updatedAt, cumulativeExecutionSeconds: spent = 0, executionStartedAt } = fields;
  if (typeof id !== 'string' || id === '') return `id must be a non-empty string, not ${describeValue(id)}`;
  for (const [name, time] of Object.entries({ startedAt, updatedAt, executionStartedAt }))
    if (!isTime(time) && !(name === 'executionStartedAt' && time === undefined))
      return `${name} must be milliseconds since 1970, not ${describeValue(time)}`;
  return isAmount(spent) ? undefined : `cumulativeExecutionSeconds must be a number of 0 or more, not ${describeValue(spent)}`;
}

/** Ids, times and amount of work of a state. Times are milliseconds since the epoch. */
export class StateInfo {
  readonly id: string;
  /** Start of the session. No limit reads this. */
  readonly startedAt: number;
  readonly updatedAt: number;
  /** Time spent in steps over the whole session: a figure, not a limit. */
  readonly cumulativeExecutionSeconds: number;
  // Private, because two infos that differ only in it are stored alike.
  readonly #executionStartedAt: number | undefined;

  constructor(fields: StateInfoFields) {
    const problem = findProblem(fields);
    if (problem !== undefined) throw new InvalidArgumentError(`new StateInfo(): ${problem}.`);
    this.id = fields.id;
    this.startedAt = fields.startedAt;
    this.updatedAt = fields.updatedAt;
    this.cumulativeExecutionSeconds = fields.cumulativeExecutionSeconds ?? 0;
    this.#executionStartedAt = fields.executionStartedAt;
  }

  static create({ clock = systemClock, ids = systemIds }: Sources = {}): StateInfo {
    const now = clock.now();
    return new StateInfo({ id: cleanText(ids()), startedAt: now, updatedAt: now, cumulativeExecutionSeconds: 0 });
  }

  /** Reads stored info. A missing id is a new one, a missing time is now, and missing execution time is none. */
  static fromJSON(input: unknown, path = 'info', { clock = systemClock, ids = systemIds }: Sources = {}): StateInfo {
    const data = readObject(input, path);
    return new StateInfo({
      id: data.optionalValue('id', readId) ?? ids(),
      startedAt: data.optionalValue('startedAt', readTime) ?? clock.now(),
      updatedAt: data.optionalValue('updatedAt', readTime) ?? clock.now(),
      cumulativeExecutionSeconds: data.optionalValue('cumulativeExecutionSeconds', readAmount),
    });
  }

  addExecutionTime(seconds: number, now: number = systemClock.now()): StateInfo {
    if (!isAmount(seconds))
      throw new InvalidArgumentError(`addExecutionTime() needs a number of 0 or more, not ${describeValue(seconds)}.`);
    const { id, startedAt, cumulativeExecutionSeconds } = this;
    return new StateInfo({
      id,
      startedAt,
      updatedAt: now,
      cumulativeExecutionSeconds: roundToMicroseconds(cumulativeExecutionSeconds + seconds),
    });
  }

  /** @internal The same info as it stood at another time, as stores read it. */
  at(updatedAt: number, cumulativeExecutionSeconds: number): StateInfo {
    const { id, startedAt } = this;
    return new StateInfo({ id, startedAt, updatedAt, cumulativeExecutionSeconds });
  }

  /** Start of the run in progress, or of the last one in this process; the limit of run time counts from it. Never stored. */
  get executionStartedAt(): number | undefined {
    return this.#executionStartedAt;
  }

  /** @internal The same info with the start of its run. */
  withExecutionStart(executionStartedAt: number | undefined): StateInfo {
    return executionStartedAt === undefined ? this : new StateInfo({ ...this, executionStartedAt });
  }

  toJSON(): JsonObject {
    return {
      id: this.id,
      startedAt: new Date(this.startedAt).toISOString(),
      updatedAt: new Date(this.updatedAt).toISOString(),
      cumulativeExecutionSeconds: this.cumulativeExecutionSeconds,
    };
  }
}
