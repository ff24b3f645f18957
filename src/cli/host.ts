import type { Clock, IdSource } from '../lib/index.ts';

/** A stream that lines are written to. */
export interface HostStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The process that a command runs in, as far as commands need it. */
export interface CliHost {
  readonly stdout: HostStream;
  readonly stderr: HostStream;
  /** True if a person types at the standard input. */
  readonly hasKeyboard: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Name of the user of the operating system. */
  readonly user: string;
  readonly version: string;
  readonly clock: Clock;
  readonly ids: IdSource;
  /** Aborted when the user interrupts the command. */
  readonly signal: AbortSignal;
  ask(question: string): Promise<string>;
}
