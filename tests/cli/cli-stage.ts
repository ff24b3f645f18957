// What the tests of the command line tool have in common: a worker in this process, a client beside it, and what was printed.
import type { CommandContext } from '../../src/cli/command-context.ts';
import { createOutput } from '../../src/cli/create-output.ts';
import type { CliHost } from '../../src/cli/host.ts';
import { createClient } from '../../src/cli/with-store.ts';
import type { Clock, IdSource } from '../../src/lib/index.ts';
import { systemClock, systemIds } from '../../src/lib/index.ts';
import type { EmbeddedRuntime } from '../../src/sessions/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import type { Place, Stage } from '../sessions/stage.ts';
import { ann, stageOn } from '../sessions/stage.ts';
import { onTestFinished } from 'vitest';

/** Everything that a command printed. */
export interface Printed {
  readonly out: string[];
  readonly err: string[];
}

export interface FakeHostOptions {
  /** Columns of the terminal; none for a pipe. */
  readonly columns?: number;
  /** Answers of the person, in their order. */
  readonly answers?: readonly string[];
  readonly clock?: Clock;
  readonly ids?: IdSource;
  readonly env?: CliHost['env'];
  readonly cwd?: string;
}

export function createFakeHost(options: FakeHostOptions = {}): { readonly host: CliHost; readonly printed: Printed } {
  const { columns, answers = [], clock = systemClock, ids = systemIds, env = { NO_COLOR: '1' }, cwd = '/nowhere' } = options;
  const printed: Printed = { out: [], err: [] };
  const left = [...answers];
  const terminal = columns === undefined ? {} : { isTTY: true, columns };
  const host: CliHost = {
    stdout: { write: (text) => printed.out.push(text), ...terminal },
    stderr: { write: (text) => printed.err.push(text), ...terminal },
    hasKeyboard: answers.length > 0,
    env,
    cwd,
    user: 'kim',
    version: '0.0.0',
    clock,
    ids,
    signal: new AbortController().signal,
    ask: async (question) => {
      printed.out.push(`${question}\n`);
      return left.shift() ?? '';
    },
  };
  return { host, printed };
}

export interface CliStage extends Stage {
  readonly worker: EmbeddedRuntime;
  /** A command's view of the same store. */
  readonly connect: (options?: ConnectOptions) => { readonly context: CommandContext; readonly printed: Printed };
}

export interface ConnectOptions extends FakeHostOptions {
  readonly json?: boolean;
  readonly reveal?: boolean;
  readonly timeoutMs?: number | undefined;
}

/** A store in memory with a worker. */
export function createCliStage(place: Place = createMemoryPlace()): CliStage {
  const stage = stageOn(place);
  const worker = stage.start({ role: 'worker', heartbeatClock: systemClock });
  onTestFinished(() => worker.drain({ timeoutMs: 0 }));
  return { ...stage, worker, connect: (options) => connectTo(place, options) };
}

/** A command's view of a store. */
export function connectTo(place: Place, options: ConnectOptions = {}): { readonly context: CommandContext; readonly printed: Printed } {
  const { host, printed } = createFakeHost(options);
  const { json = false, reveal = false } = options;
  const timeoutMs = 'timeoutMs' in options ? options.timeoutMs : 2000;
  const store = place.open();
  const runtime = createClient(store, host);
  onTestFinished(() => runtime.drain({ timeoutMs: 0 }));
  const output = createOutput(host, { json, reveal });
  const { clock, ids, signal, user } = host;
  const context: CommandContext = { runtime, store, output, by: { id: user, kind: 'staff' }, clock, ids, timeoutMs, signal };
  return { context, printed };
}

/** The text on the standard output. */
export const getText = ({ out }: Printed): string => out.join('');

/** Runs a session to its rest. */
export async function runSession(worker: EmbeddedRuntime, id: string, words: string): Promise<void> {
  await worker.create({ id, tenant: 'acme', tags: ['test'] }, { by: ann });
  await worker.send(id, words, { by: ann });
}
