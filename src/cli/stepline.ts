// The executable.
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { systemClock, systemIds } from '../lib/index.ts';
import { findNodeProblem } from './find-node-problem.ts';
import type { CliHost } from './host.ts';
import { runCli } from './run-cli.ts';

const nodeProblem = findNodeProblem(process.version);
if (nodeProblem !== undefined) {
  process.stderr.write(`${nodeProblem}\n`);
  process.exit(1);
}

/** Exit code of a process that the user interrupts, by convention. */
const interruptedCode = 130;

// node:sqlite announces that it is experimental; that is not for the reader of this tool.
process.removeAllListeners('warning');
process.on('warning', ({ name, message }) => {
  if (name !== 'ExperimentalWarning') process.stderr.write(`${name}: ${message}\n`);
});

// A reader such as head has seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const interruption = new AbortController();
process.once('SIGINT', () => {
  process.exitCode = interruptedCode;
  interruption.abort(new Error('Interrupted.'));
});

function readUser(): string {
  try {
    return userInfo().username;
  } catch {
    return process.env['USER'] ?? 'unknown';
  }
}

function readVersion(): string {
  const data: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return String(Reflect.get(Object(data), 'version'));
}

async function ask(question: string): Promise<string> {
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return await reader.question(question, { signal: interruption.signal });
  } finally {
    reader.close();
  }
}

const host: CliHost = {
  stdout: process.stdout,
  stderr: process.stderr,
  hasKeyboard: process.stdin.isTTY,
  env: process.env,
  cwd: process.cwd(),
  user: readUser(),
  version: readVersion(),
  clock: systemClock,
  ids: systemIds,
  signal: interruption.signal,
  ask,
};

const code = await runCli(process.argv.slice(2), host);
if (!interruption.signal.aborted) process.exitCode = code;
