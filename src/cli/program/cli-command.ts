import type { Command } from 'commander';
import type { CommandContext } from '../command-context.ts';
import type { ExitCode } from '../exit-code.ts';
import type { CliHost } from '../host.ts';
import type { GlobalOptions } from '../with-store.ts';
import { withStore } from '../with-store.ts';

/** The program while it is put together and run. */
export interface Program {
  readonly root: Command;
  readonly host: CliHost;
  /** Keeps the exit code of the command that was run. */
  readonly end: (code: ExitCode) => void;
}

/** Reads all options of a command, the global ones included. */
export const readOptions = <Options>(command: Command): Options & GlobalOptions => command.optsWithGlobals();

/** Runs a command on the store that its options name. */
export async function runOnStore(
  { host, end }: Program,
  command: Command,
  run: (context: CommandContext) => Promise<ExitCode>,
): Promise<void> {
  end(await withStore(host, readOptions(command), run));
}

const indent = (lines: readonly string[]): string => lines.map((line) => `  ${line}`).join('\n');

/** Adds a command with examples to the program. */
export function addCommand(
  { root }: Program,
  usage: string,
  { about, examples }: { readonly about: string; readonly examples: readonly string[] },
): Command {
  const title = examples.length === 1 ? 'Example' : 'Examples';
  return root
    .command(usage)
    .description(about)
    .addHelpText('after', `\n${title}:\n${indent(examples)}`);
}

/** Adds the options of commands that leave an action to a worker. */
export const withWaiting = (command: Command, parse: (text: string) => number): Command =>
  command
    .option('--timeout <seconds>', 'longest wait for a worker', parse, 30)
    .option('--no-wait', 'return as soon as the action is stored');
