// Opens what a command needs, and closes it again.
import { agentStates } from '../agent/index.ts';
import { chatStates } from '../chat/index.ts';
import { collaborationStates } from '../collaboration/index.ts';
import type { Actor, EmbeddedRuntime, SessionStore } from '../sessions/index.ts';
import { createSessionRuntime } from '../sessions/index.ts';
import type { StateType } from '../step-by-step/index.ts';
import { toolUseStates } from '../tool-use/index.ts';
import type { CommandContext } from './command-context.ts';
import type { OutputOptions } from './create-output.ts';
import { createOutput } from './create-output.ts';
import type { ExitCode } from './exit-code.ts';
import type { CliHost } from './host.ts';
import type { StoreLocation } from './store/locate-store.ts';
import { locateStore } from './store/locate-store.ts';
import type { OpenedStore } from './store/open-store.ts';
import { openStore } from './store/open-store.ts';

/** Options that every command has. */
export interface GlobalOptions extends OutputOptions {
  readonly db?: string;
  readonly schema?: string;
  /** Author of actions. */
  readonly as?: string;
  /** Seconds. */
  readonly timeout?: number;
  readonly wait?: boolean;
}

/** Every kind of state that a session can have. */
const states: readonly StateType[] = [agentStates, toolUseStates, chatStates, collaborationStates];

/** Creates a client of a store. */
export const createClient = (store: SessionStore, { clock, ids }: Pick<CliHost, 'clock' | 'ids'>): EmbeddedRuntime =>
  createSessionRuntime({ role: 'client', store, agents: [], states, clock, ids, onProblem: () => undefined });

/** Returns the author of actions. */
export const getAuthor = (host: CliHost, { as: name }: GlobalOptions): Actor => ({ id: name ?? host.user, kind: 'staff' });

/** Finds the store that the options name. */
export const findLocation = ({ env, cwd }: CliHost, { db, schema }: GlobalOptions): StoreLocation =>
  locateStore({ env, cwd, ...(db !== undefined && { db }), ...(schema !== undefined && { schema }) });

/** Runs a command on an open store. */
export async function withOpened(
  host: CliHost,
  { options, opened }: { readonly options: GlobalOptions; readonly opened: OpenedStore },
  run: (context: CommandContext) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { store } = opened;
  const { clock, ids, signal } = host;
  const { timeout = 30, wait = true } = options;
  try {
    const runtime = createClient(store, host);
    const timeoutMs = wait ? timeout * 1000 : undefined;
    const context = { runtime, store, output: createOutput(host, options), by: getAuthor(host, options), clock, ids, timeoutMs, signal };
    try {
      return await run(context);
    } finally {
      await runtime.drain({ timeoutMs: 0 });
    }
  } finally {
    await store.close();
  }
}

/** Opens the store, runs a command on it, and closes it. */
export async function withStore(
  host: CliHost,
  options: GlobalOptions,
  run: (context: CommandContext) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withOpened(host, { options, opened: await openStore(findLocation(host, options), host) }, run);
}
