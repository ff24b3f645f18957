import { DamagedDataError, isRecord, SteplineError } from '../../lib/index.ts';
import type { StoreProblem } from '../index.ts';
import { SessionDamagedError, StoreUnavailableError } from '../index.ts';
import { RowChangedError } from '../table/index.ts';

// The primary result codes of SQLite that mean something to us.
const names: Readonly<Record<number, string>> = {
  3: 'PERM',
  5: 'BUSY',
  6: 'LOCKED',
  8: 'READONLY',
  10: 'IOERR',
  11: 'CORRUPT',
  13: 'FULL',
  14: 'CANTOPEN',
  19: 'CONSTRAINT',
  26: 'NOTADB',
};

const problems: Readonly<Record<string, StoreProblem>> = {
  PERM: 'read-only',
  BUSY: 'busy',
  LOCKED: 'busy',
  READONLY: 'read-only',
  FULL: 'full',
  NOTADB: 'not-a-store',
};

/** Returns the name of SQLite's result code, without its prefix. node:sqlite gives a number, better-sqlite3 a name. */
export function getResultName(error: unknown): string | undefined {
  if (!isRecord(error)) return undefined;
  const { errcode, code } = error;
  if (typeof errcode === 'number') return names[errcode & 0xff];
  return typeof code === 'string' ? /^SQLITE_([A-Z]+)/.exec(code)?.[1] : undefined;
}

/** True if another connection holds the database. */
export function isBusy(error: unknown): boolean {
  if (error instanceof StoreUnavailableError) return error.problem === 'busy';
  const name = getResultName(error);
  return name === 'BUSY' || name === 'LOCKED';
}

/** Classifies an error of SQLite. */
export function toStoreError(error: unknown, what = 'SQLite reported'): SteplineError {
  if (SteplineError.is(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new StoreUnavailableError(problems[getResultName(error) ?? ''] ?? 'failed', `${what} "${message}"`, error);
}

/** Classifies an error of SQLite if only one session was touched: a contradiction is that session's damage. */
export function toSessionError(sessionId: string, error: unknown): SteplineError {
  if (error instanceof DamagedDataError) return new SessionDamagedError(sessionId, error.message, error);
  if (SteplineError.is(error)) return error;
  const name = getResultName(error);
  if (name === 'CORRUPT') return new SessionDamagedError(sessionId, 'the part of the file that holds it is corrupt', error);
  if (error instanceof RowChangedError) return new SessionDamagedError(sessionId, error.message, error);
  if (name === 'CONSTRAINT') return new SessionDamagedError(sessionId, 'the next row already exists', error);
  // The store never writes a number that JavaScript cannot hold.
  if (isRecord(error) && error['code'] === 'ERR_OUT_OF_RANGE')
    return new SessionDamagedError(sessionId, 'a number in it is too large', error);
  return toStoreError(error);
}

/** True if one write among several may have caused the failure: the others are worth trying alone. */
export function mayBeOneWrite(error: unknown): boolean {
  if (error instanceof StoreUnavailableError) return false;
  const name = getResultName(error);
  return name === undefined || name === 'CORRUPT' || name === 'CONSTRAINT';
}
