// Where conversations live: a runtime over a file, and the leads in a file beside it.
import { mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Actor, Recovery, SessionFacts, EmbeddedRuntime } from 'stepline/sessions';
import { createSessionRuntime } from 'stepline/sessions';
import { sqliteStore } from 'stepline/sqlite';
import type { Clock } from 'stepline/step-by-step';
import type { Desk, DeskContext, DeskEvent } from './desk.ts';
import type { Directory } from './partners.ts';
import { createDirectory } from './partners.ts';

export interface Home {
  readonly runtime: EmbeddedRuntime;
  readonly directory: Directory;
  /** Work that the last process left undone. */
  readonly recovery: Recovery;
  /** Lets steps under way end; the rest is left to the next start. */
  close(): Promise<void>;
}

export interface HomeOptions {
  readonly desks: readonly Desk[];
  readonly onEvent?: (event: DeskEvent, session: SessionFacts) => void;
  readonly onProblem: (error: unknown) => void;
  /** Changes what the tools of a session work with. */
  readonly adapt?: (directory: Directory, session: SessionFacts) => Directory;
  /** Source of the times that are stored. @default the machine's clock */
  readonly clock?: Clock;
  /** Name of this process among those that share the file. @default it has the file for itself, or is refused */
  readonly workerName?: string;
}

/** Why the files cannot be used. */
export class HomeError extends Error {}

/** The file of the conversations if none was named. */
export const usualFile: string = fileURLToPath(new URL('../../.stepline/partner-desk.db', import.meta.url));

/** Whoever sits here. */
export function whoIsHere(): Actor {
  try {
    return { id: userInfo().username || 'you', kind: 'user' };
  } catch {
    // The system knows no name for this user.
    return { id: 'you', kind: 'user' };
  }
}

function orRefused<Value>(file: string, work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    throw new HomeError(`${file} cannot be used: ${error instanceof Error ? error.message : String(error)}.`);
  }
}

/** Opens the files, or makes them. What was interrupted goes on at once. */
export async function openHome(
  named: string,
  { desks, onEvent, onProblem, adapt = (same) => same, clock, workerName }: HomeOptions,
): Promise<Home> {
  const file = resolve(named);
  orRefused(dirname(file), () => mkdirSync(dirname(file), { recursive: true }));
  const leadsFile = `${file}.partners`;
  let directory: Directory | undefined;
  // Opened only once the store is: beside a file that is not a store, nothing is created.
  const open = (): Directory => (directory ??= orRefused(leadsFile, () => createDirectory(leadsFile)));
  const store = sqliteStore({ path: file });
  const runtime = createSessionRuntime({
    agents: desks,
    store,
    context: (session): DeskContext => ({ directory: adapt(open(), session) }),
    ...(clock !== undefined && { clock }),
    ...(workerName !== undefined && { name: workerName }),
    // Holds: all agents are desks, and these are their events.
    ...(onEvent !== undefined && { onEvent: (event, session) => onEvent(event as DeskEvent, session) }),
    onProblem,
  });
  const close = async (): Promise<void> => {
    await runtime.drain({ timeoutMs: 5000 });
    await store.close();
    directory?.close();
  };
  const recovery = await runtime.ready;
  const { workers } = await runtime.health();
  // Another process may run what is said here, and this one would show nothing of it.
  const other = workerName === undefined ? workers.find(({ pid }) => pid !== process.pid) : undefined;
  if (other !== undefined) {
    await close();
    throw new HomeError(`Another partner desk (process ${other.pid ?? 0}) has ${file} open. Close it, or name another file with --db.`);
  }
  return { runtime, directory: open(), recovery, close };
}
