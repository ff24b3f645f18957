// A process as its parent sees it.
import type { ChildProcessByStdio } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Command, Report } from './orders.ts';

export type Problem = Extract<Report, { readonly type: 'problem' }>;

export interface Child {
  readonly name: string;
  readonly pid: number;
  /** Settles with the first line that fits, also if it came before; rejects if the process ends without one. */
  expect<Type extends Report['type']>(type: Type): Promise<Extract<Report, { readonly type: Type }>>;
  command(command: Command): void;
  signal(signal: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void;
  /** Settles when the process is gone, with its exit code or signal. */
  readonly gone: Promise<string>;
  readonly problems: readonly Problem[];
  readonly isGone: boolean;
}

interface Listener {
  readonly type: string;
  readonly resolve: (report: Report) => void;
  readonly reject: (error: Error) => void;
}

function launch(script: string, orders: object): ChildProcessByStdio<Writable, Readable, Readable> {
  return spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, JSON.stringify(orders)], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** Starts a process. `onReport` gets every line that it writes. */
export function startChild(script: string, orders: { readonly name: string }, onReport: (report: Report) => void = () => undefined): Child {
  const launched = launch(script, orders);
  const listeners = new Set<Listener>();
  const first = new Map<string, Report>();
  const problems: Problem[] = [];
  let errors = '';
  let isGone = false;
  launched.stderr.setEncoding('utf8').on('data', (more: string) => (errors = (errors + more).slice(-4000)));
  // A command to a process that was just killed goes nowhere.
  launched.stdin.on('error', () => undefined);

  function onLine(report: Report): void {
    if (report.type === 'problem') problems.push(report);
    if (!first.has(report.type)) first.set(report.type, report);
    for (const listener of [...listeners]) {
      if (listener.type !== report.type) continue;
      listeners.delete(listener);
      listener.resolve(report);
    }
    onReport(report);
  }

  createInterface({ input: launched.stdout }).on('line', (line) => {
    // Holds: a process prints nothing else. A line that a kill cut off is not whole.
    if (line.endsWith('}')) onLine(JSON.parse(line) as Report);
  });
  const gone = new Promise<string>((resolve) => {
    launched.once('close', (code, signal) => {
      isGone = true;
      const error = new Error(`${orders.name} ended (${signal ?? String(code)}). ${errors}`);
      for (const listener of listeners) listener.reject(error);
      listeners.clear();
      if (code !== 0 && signal === null) problems.push({ type: 'problem', code: 'exit', where: orders.name, message: error.message });
      resolve(signal ?? String(code));
    });
  });
  return {
    name: orders.name,
    pid: launched.pid ?? -1,
    expect: <Type extends Report['type']>(type: Type) =>
      new Promise<Extract<Report, { readonly type: Type }>>((resolve, reject) => {
        const found = first.get(type);
        // Holds: reports are kept and delivered by their type.
        const settle = resolve as (report: Report) => void;
        if (found !== undefined) settle(found);
        else if (isGone) reject(new Error(`${orders.name} is gone. ${errors}`));
        else listeners.add({ type, resolve: settle, reject });
      }),
    command: (command) => void launched.stdin.write(`${JSON.stringify(command)}\n`),
    signal: (signal) => void launched.kill(signal),
    gone,
    problems,
    get isGone() {
      return isGone;
    },
  };
}
