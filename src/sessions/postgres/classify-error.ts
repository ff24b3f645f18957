import { DamagedDataError, isRecord, SteplineError } from '../../lib/index.ts';
import type { StoreProblem } from '../index.ts';
import { createWriteError, SessionDamagedError, StoreUnavailableError } from '../index.ts';
import { RowChangedError } from '../table/index.ts';

/** No answer came in time: the connection counts as lost. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError';
}

/** The answer to a commit was lost with the connection: it may have been kept. Never simply tried again. */
export class LostCommitError<Batch> extends Error {
  override readonly name = 'LostCommitError';
  readonly batch: Batch;

  constructor(batch: Batch, cause: unknown) {
    super(toWords(cause), { cause });
    this.batch = batch;
  }
}

/** Returns Postgres's code for an error that came from the server. Codes of Node (EPIPE) have no digit. */
export function getSqlState(error: unknown): string | undefined {
  const code = isRecord(error) ? error['code'] : undefined;
  return typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

// The server ends the connection: shutdown, crash, starting up, idle for too long. Class 08 is the connection itself.
const isConnectionState = (state: string): boolean => /^(?:08|57P0[1235]|25P0[34])/.test(state);

// Words of pg, which gives these errors no code.
const connectionWords =
  /Connection terminated|connection error|not queryable|timeout exceeded when trying to connect|Connection ended|was closed|Query read timeout/i;

/** True if the connection, or the way to the server, was lost. Whatever was not committed was rolled back. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof NoAnswerError) return true;
  if (!(error instanceof Error) || error instanceof LostCommitError || SteplineError.is(error)) return false;
  const state = getSqlState(error);
  if (state !== undefined) return isConnectionState(state) || state === '53300';
  const { code, syscall } = error as { readonly code?: unknown; readonly syscall?: unknown };
  const isFromSystem = typeof code === 'string' && (typeof syscall === 'string' || /^E[A-Z]+$/.test(code));
  return isFromSystem || connectionWords.test(error.message) || (error instanceof AggregateError && error.errors.some(isConnectionLost));
}

/** True if the server may have run a COMMIT though it failed: only an error of the statement itself says that it did not. */
export function isOutcomeUnknown(error: unknown): boolean {
  const state = getSqlState(error);
  if (state === undefined || isConnectionState(state)) return true;
  const severity = isRecord(error) ? error['severity'] : undefined;
  return severity === 'FATAL' || severity === 'PANIC' || state === '40003';
}

/** True if the same transaction may work a moment later. */
export function isPassing(error: unknown): boolean {
  if (error instanceof RowChangedError) return true;
  // Serialization, deadlock, a lock that was not free in time.
  return ['40001', '40P01', '55P03'].includes(getSqlState(error) ?? '');
}

/** True if a row is there already that was to be added. */
export const isUniqueViolation = (error: unknown): boolean => getSqlState(error) === '23505';

/** True if one write among several may have caused the failure: the others are worth trying alone. */
export function mayBeOneWrite(error: unknown): boolean {
  if (SteplineError.is(error)) return !(error instanceof StoreUnavailableError);
  const state = getSqlState(error);
  if (state === undefined) return !(isConnectionLost(error) || isPassing(error) || error instanceof LostCommitError);
  return isUniqueViolation(error) || /^(?:22|54|XX00[12])/.test(state);
}

interface Problem {
  readonly problem: StoreProblem;
  readonly advice?: string;
}

const noRights = 'Grant the role its rights on the schema, or create the schema for it.';

function findProblem(error: unknown): Problem {
  const state = getSqlState(error) ?? '';
  if (isPassing(error)) return { problem: 'busy' };
  if (state === '25006') return { problem: 'read-only', advice: 'This server is read-only. Connect to the primary.' };
  if (state === '42501') return { problem: 'read-only', advice: noRights };
  if (/^53[124]00$/.test(state)) return { problem: 'full', advice: 'Free some space on the server, then resume the session.' };
  if (error instanceof Error && error.message.includes('after calling end on the pool'))
    return { problem: 'closed', advice: 'The pool was ended. Create a new pool, and a store with it.' };
  return { problem: 'failed' };
}

/** Describes an error in its own words. */
export const toWords = (error: unknown): string => {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(toWords).join('; ');
  return error instanceof Error ? error.message : String(error);
};

/** Classifies an error of pg or of the server. */
export function toStoreError(error: unknown, what = 'Postgres reported'): SteplineError {
  if (SteplineError.is(error)) return error;
  const { problem, advice } = findProblem(error);
  const words = `${what} "${toWords(error)}"`;
  return new StoreUnavailableError(problem, advice === undefined ? words : { what: words, advice }, error);
}

/** Classifies an error if only one session was touched: a contradiction is that session's damage. */
export function toSessionError(sessionId: string, error: unknown): SteplineError {
  if (error instanceof DamagedDataError || error instanceof SyntaxError) return new SessionDamagedError(sessionId, toWords(error), error);
  if (SteplineError.is(error)) return error;
  const state = getSqlState(error) ?? '';
  if (state === 'XX001' || state === 'XX002')
    return new SessionDamagedError(sessionId, 'the part of the database that holds it is corrupt', error);
  if (state === '22021') return new SessionDamagedError(sessionId, 'a text in it is not UTF-8', error);
  if (isUniqueViolation(error)) return new SessionDamagedError(sessionId, 'the next row already exists', error);
  if (/^(?:22|54)/.test(state)) return createWriteError(sessionId, `Postgres reported "${toWords(error)}"`);
  return toStoreError(error);
}
