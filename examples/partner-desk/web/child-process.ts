// A child process, as its supervisor sees it.
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { ChildSettings, FromChild, ToChild } from './messages.ts';

export interface Child {
  readonly pid: number | undefined;
  send(message: ToChild): void;
  onMessage(listener: (message: FromChild) => void): void;
  /** Ends it the hard way. */
  kill(): void;
  /** Settles when the process has ended, with how it ended in words. */
  readonly ended: Promise<string>;
}

const describeEnd = (code: number | null, signal: string | null): string =>
  signal === null ? `exit code ${code ?? 'unknown'}` : `killed by ${signal}`;

/** Starts a file of this folder in a process of its own, and sends it its settings. */
export function startChild<Settings extends ChildSettings>(file: string, settings: Settings): Child {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const send = (message: ToChild): void => {
    // A child that is gone reads nothing; its end is noticed elsewhere.
    if (child.connected) child.send(message, () => undefined);
  };
  send({ type: 'start', settings });
  return {
    pid: child.pid,
    send,
    // Holds: the files of this folder send nothing else.
    onMessage: (listener) => void child.on('message', (message) => listener(message as FromChild)),
    kill: () => void child.kill('SIGKILL'),
    ended: new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message));
      child.once('exit', (code, signal) => resolve(describeEnd(code, signal)));
    }),
  };
}
