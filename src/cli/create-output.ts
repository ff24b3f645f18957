import { defaultRedactor, SteplineError } from '../lib/index.ts';
import { toExitCode } from './failures.ts';
import type { CliHost } from './host.ts';
import type { Output } from './output.ts';
import { revealing } from './output.ts';
import { createStyle } from './render/style.ts';
import { toJsonText, toLine } from './render/text.ts';

export interface OutputOptions {
  readonly json?: boolean;
  readonly reveal?: boolean;
}

function hasColours({ stdout, env }: CliHost): boolean {
  return stdout.isTTY === true && (env['NO_COLOR'] ?? '') === '' && env['TERM'] !== 'dumb';
}

/** Writes an error as JSON: its code, message and exit code. */
function toErrorJson(error: unknown, message: string): string {
  const code = SteplineError.is(error) ? error.code : 'unexpected';
  return toJsonText({ error: { code, message, exitCode: toExitCode(error) } });
}

/** Creates the output of a command. */
export function createOutput(host: CliHost, { json = false, reveal = false }: OutputOptions): Output {
  const { stdout, stderr } = host;
  const redactor = reveal ? revealing : defaultRedactor;
  const style = createStyle(!json && hasColours(host));
  return {
    isJson: json,
    isInteractive: stdout.isTTY === true && host.hasKeyboard,
    page: { width: stdout.isTTY === true ? (stdout.columns ?? 80) : undefined, style },
    redactor,
    print: (text) => void stdout.write(`${text}\n`),
    note: (text) => void stderr.write(`${text}\n`),
    fail: (error) => {
      // On one line: a line break is part of something that the message quotes, such as the name of a person.
      const message = redactor.text(error instanceof Error ? error.message : String(error));
      stderr.write(json ? `${toErrorJson(error, message)}\n` : `${style('red', 'error')}: ${toLine(message)}\n`);
    },
    ask: (question) => host.ask(question),
  };
}
