// Console blocks of a page: the commands after `$ stepline`, and what the tool prints on a store.
import { expect } from 'vitest';
import type { CliHost } from '../../src/cli/host.ts';
import { runCli } from '../../src/cli/run-cli.ts';
import { systemClock } from '../../src/lib/index.ts';
import { createFakeHost } from './cli-stage.ts';

/** Splits a command as a shell does. */
const split = (command: string): readonly string[] =>
  Array.from(command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g), ([, double, single, plain]) => double ?? single ?? plain ?? '');

export interface ConsoleOptions {
  /** File of the store. */
  readonly path: string;
  readonly now: () => number;
  /** Columns of the terminal; none for a pipe. */
  readonly columns?: number;
  /** Ids of holds. */
  readonly ids?: () => string;
  /** Settles when the worker has done what it was asked for. */
  readonly whenIdle?: () => Promise<unknown>;
}

/** Replaces facts that differ from run to run. */
export const settle = (output: string, path: string): string =>
  output
    .replaceAll(path, 'sessions.db')
    .replaceAll(/\(process \d+ on [^)]+\) since [^,.]+,/g, '(process 4711 on host) since 2026-01-01 00:00:00Z (3 min),')
    .replaceAll(/process \d+ on \S+$/gm, 'process 4711 on host')
    // Where a line breaks depends on the name of the machine, and the room on when a worker was last heard.
    .replaceAll(/,\s+alive,\s+runs\s+(\S+);\s+it\s+has\s+(\d+)\s+sessions/g, `, alive, runs $1; it has $2\n${' '.repeat(20)}sessions`)
    .replaceAll(/^(\S+ +alive +\d+ +)(?:499|500)\b/gm, '$1500')
    .replaceAll(/[\d.]+ [kM]B/g, '512.0 kB');

/** Runs a command; returns what it printed. */
async function print(command: string, { path, now, columns, ids, whenIdle }: ConsoleOptions): Promise<string> {
  await whenIdle?.();
  const { host, printed } = createFakeHost({ ...(columns !== undefined && { columns }), clock: { ...systemClock, now } });
  const written: string[] = [];
  const write = (output: string): unknown => written.push(output);
  const streams: Pick<CliHost, 'stdout' | 'stderr'> = { stdout: { ...host.stdout, write }, stderr: { ...host.stderr, write } };
  // The id of a request is made too; only those of holds are shown.
  const next = command.startsWith('hold ') && ids !== undefined ? ids : () => crypto.randomUUID();
  const code = await runCli([...split(command), '--db', path], { ...host, ...streams, ids: next });
  expect(printed.out).toStrictEqual([]);
  return settle(`${written.join('')}${code === 0 ? '' : `exit code ${code}\n`}`, path);
}

const grep = (output: string, pattern: string): string =>
  output
    .split('\n')
    .filter((line) => line.includes(pattern))
    .map((line) => `${line}\n`)
    .join('');

/** Runs a command, which may end in `| grep text`; returns it with what it printed, as a page shows it. */
export async function runCommand(line: string, options: ConsoleOptions): Promise<string> {
  const [command = '', filter] = line.split(' | grep ');
  if (filter === undefined) return `$ stepline ${line}\n${await print(command, options)}`;
  const { columns: _none, ...piped } = options;
  return `$ stepline ${line}\n${grep(await print(command, piped), split(filter)[0] ?? '')}`;
}

/** Returns the text with every console block as its commands print it now. */
export async function renewConsoleBlocks(text: string, options: ConsoleOptions): Promise<string> {
  let made = text;
  for (const [whole, block = ''] of text.matchAll(/^```console\n(.*?)^```$/gms)) {
    let output = '';
    for (const [, command = ''] of block.matchAll(/^\$ stepline (.*)$/gm)) output += await runCommand(command, options);
    made = made.replace(whole, () => `\`\`\`console\n${output}\`\`\``);
  }
  return made;
}
