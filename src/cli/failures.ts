// Errors of commands, and the exit codes that errors lead to.
import { SteplineError } from '../lib/index.ts';
import { CommandFailedError } from './command-failed-error.ts';
import { ExitCode } from './exit-code.ts';

const byCode: Readonly<Record<string, ExitCode>> = {
  'unknown-session': ExitCode.NotFound,
  'session-deleted': ExitCode.NotFound,
  'not-waiting': ExitCode.Refused,
  'already-answered': ExitCode.Refused,
  'late-answer': ExitCode.Refused,
  'stale-approval': ExitCode.Refused,
  'forged-approval': ExitCode.Refused,
  'foreign-approval': ExitCode.Refused,
  'action-refused': ExitCode.Refused,
  'request-reused': ExitCode.Refused,
  'session-conflict': ExitCode.Refused,
  'message-refused': ExitCode.Refused,
  'crash-loop': ExitCode.Refused,
  'agent-changed': ExitCode.Refused,
  'invalid-argument': ExitCode.Usage,
  'store-unavailable': ExitCode.Unavailable,
  'lease-lost': ExitCode.Unavailable,
  'mail-waiting': ExitCode.Unavailable,
  'runtime-closed': ExitCode.Unavailable,
};

/** Returns the exit code of an error. */
export function toExitCode(error: unknown): ExitCode {
  if (error instanceof CommandFailedError) return error.exitCode;
  return SteplineError.is(error) ? (byCode[error.code] ?? ExitCode.Failed) : ExitCode.Failed;
}

const fail = (exitCode: ExitCode, message: string): CommandFailedError => new CommandFailedError(message, exitCode);

/** Creates the error of a command that was called in a wrong way. */
export const usageError = (message: string): CommandFailedError => fail(ExitCode.Usage, message);

/** Creates the error of something that does not exist. */
export const notFoundError = (message: string): CommandFailedError => fail(ExitCode.NotFound, message);

/** Creates the error of an action that is not run. */
export const createRefusal = (message: string): CommandFailedError => fail(ExitCode.Refused, message);

/** Creates the error of a store that cannot be used. */
export const unavailableError = (message: string): CommandFailedError => fail(ExitCode.Unavailable, message);
