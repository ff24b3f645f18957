// A process that a test starts, talks with, and kills.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Something that a process says. */
export interface Word {
  readonly type: string;
  readonly port?: number;
  readonly at?: number;
  readonly bytes?: number;
  readonly value?: unknown;
}

export interface StartedProcess {
  hear(type: string): Promise<Word>;
  say(word: object): void;
  /** Kills it the hard way, and waits until it is gone. */
  kill(): Promise<void>;
}

/** Starts a file of TypeScript in a process of its own. */
export function startProcess(file: URL, args: readonly string[]): StartedProcess {
  const path = fileURLToPath(file);
  const child: ChildProcess = spawn(process.execPath, ['--expose-gc', '--disable-warning=ExperimentalWarning', path, ...args], {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4000)));
  const gone = once(child, 'close');
  return {
    hear: (type) =>
      new Promise((resolve, reject) => {
        child.on('message', (word: Word) => {
          if (word.type === type) resolve(word);
        });
        void gone.then(() => reject(new Error(`${path} ended before it said "${type}". ${errors}`)));
      }),
    say: (word) => void child.send(word),
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}
