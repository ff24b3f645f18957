/** Exit codes of the command. They are part of its interface. */
export const ExitCode = {
  Ok: 0,
  /** The command failed, or found something wrong. */
  Failed: 1,
  Usage: 2,
  NotFound: 3,
  /** The action cannot be applied: late, stale, forged, or meant for something else. */
  Refused: 4,
  /** The store cannot be used, or not for this now. */
  Unavailable: 5,
  /** The action is stored, but no worker has applied it yet. */
  TimedOut: 6,
} as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];
