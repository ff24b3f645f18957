// The lines between a process and its parent, and its own record.
import { openSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Command, Report } from './orders.ts';

/** Reads the orders of this process. */
// Holds: the parent writes them.
export const readOrders = <Orders>(): Orders => JSON.parse(process.argv[2] ?? '{}') as Orders;

export const report = (line: Report): void => void writeSync(1, `${JSON.stringify(line)}\n`);

export const readCode = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : 'no-code';

export const readMessage = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

export function reportProblem(error: unknown, where: string): void {
  report({ type: 'problem', code: readCode(error), where, message: readMessage(error).slice(0, 2000) });
}

/** Opens a file whose lines are there once they are written, whatever becomes of the process. */
export function openRecord<Line>(path: string): (line: Line) => void {
  const file = openSync(path, 'a');
  // The process before may have been killed in the middle of a line.
  writeSync(file, '\n');
  return (line) => void writeSync(file, `${JSON.stringify(line)}\n`);
}

/** Calls back for each command of the parent. */
export function listenToParent(call: (command: Command) => void): void {
  // Holds: the parent writes nothing else.
  createInterface({ input: process.stdin }).on('line', (line) => call(JSON.parse(line) as Command));
}
