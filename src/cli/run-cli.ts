// The command line tool.
// Owns:     the commands, their options, and the exit code.
// Does not: touch the process: everything comes in as a host.
import { Command, CommanderError } from 'commander';
import { createOutput } from './create-output.ts';
import { ExitCode } from './exit-code.ts';
import { toExitCode } from './failures.ts';
import type { CliHost } from './host.ts';
import { addActionCommands } from './program/action-commands.ts';
import type { Program } from './program/cli-command.ts';
import { addReadingCommands } from './program/reading-commands.ts';
import { addStoreCommands } from './program/store-commands.ts';
import { toJsonText, toLine } from './render/text.ts';

const exitCodes = `
Exit codes:
  0  done
  1  failed, or something is wrong
  2  wrong usage
  3  not found
  4  refused: late, stale, forged, or not approved
  5  the store cannot be used, or not for this now
  6  stored, but not applied by a worker in time`;

function createRoot({ stdout, stderr, version }: CliHost, isJson: boolean): Command {
  const getWidth = (): number => stdout.columns ?? 80;
  return new Command('stepline')
    .description('Look at the sessions of a store and act on them, while workers run them.')
    .version(version)
    .option('--db <file or url>', 'SQLite file or Postgres URL (default: $STEPLINE_DB, else the only .stepline/*.db here)')
    .option('--schema <name>', 'Postgres schema of the store (default: stepline)')
    .option('--json', 'write JSON; errors as JSON on stderr')
    .option('--reveal', 'show secrets, which are replaced by [redacted] otherwise')
    .option('--as <who>', 'author of actions (default: your user name)')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => {
        if (!isJson) stderr.write(text);
      },
      getOutHelpWidth: getWidth,
      getErrHelpWidth: getWidth,
    })
    .showHelpAfterError('(stepline --help lists the commands and options)')
    .exitOverride()
    .addHelpText('after', exitCodes);
}

function endUsage(error: CommanderError, { stderr }: CliHost, isJson: boolean): ExitCode {
  if (error.exitCode === 0) return ExitCode.Ok;
  if (isJson) {
    const message = toLine(error.message.replace(/^error: /, ''));
    stderr.write(`${toJsonText({ error: { code: 'usage', message, exitCode: ExitCode.Usage } })}\n`);
  }
  return ExitCode.Usage;
}

/** Runs the tool with the arguments after its name. Returns the exit code. */
export async function runCli(args: readonly string[], host: CliHost): Promise<ExitCode> {
  const isJson = args.includes('--json');
  let code: ExitCode = ExitCode.Ok;
  const program: Program = { root: createRoot(host, isJson), host, end: (ended) => void (code = ended) };
  addReadingCommands(program);
  addActionCommands(program);
  addStoreCommands(program);
  try {
    await program.root.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return endUsage(error, host, isJson);
    createOutput(host, { json: isJson, reveal: args.includes('--reveal') }).fail(error);
    return toExitCode(error);
  }
}
