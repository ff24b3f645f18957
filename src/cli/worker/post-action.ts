// Actions, from the command to the worker.
// A1. An action is stored once, whatever becomes of the wait for it.
// A2. A refusal of the worker is the error of the command.
import type { Clock } from '../../lib/index.ts';
import { sleep, SteplineError, toJsonText } from '../../lib/index.ts';
import type { ActionOptions } from '../../sessions/index.ts';
import { findExecution } from '../../sessions/index.ts';
import type { CommandContext } from '../command-context.ts';
import { ExitCode } from '../exit-code.ts';
import { createRefusal } from '../failures.ts';
import { findWorker } from './find-worker.ts';

/** State of an action when the command ends. */
export type ActionState = 'applied' | 'stored' | 'no-worker' | 'timed-out';

/** An action to post. */
export interface PostedAction {
  readonly sessionId: string;
  readonly run: (options: ActionOptions) => Promise<unknown>;
  /** True once the action has its effect. @default an execution of the session has applied it */
  readonly isApplied?: () => Promise<boolean>;
}

const lookMs = 50;

/** Settles when the worker has taken an action; never if it refuses it. */
async function waitUntil(isApplied: () => Promise<boolean>, clock: Clock, signal: AbortSignal): Promise<'applied'> {
  while (!(await isApplied())) await sleep(clock, lookMs, signal);
  return 'applied';
}

/** Errors of the arguments come from the worker here: they do not fit the session. */
function toRefusal(error: unknown): unknown {
  if (SteplineError.is(error) && error.code === 'invalid-argument') return createRefusal(error.message);
  return error;
}

/** Posts an action and waits until a worker has taken it. Throws if it was refused. */
export async function postAction(context: CommandContext, { sessionId, run, isApplied }: PostedAction): Promise<ActionState> {
  const { store, clock, by, ids, timeoutMs } = context;
  const requestId = ids();
  // One that is queued behind the open step may still be refused.
  const isInEffect = async (): Promise<boolean> => {
    const entry = await store.log.findRequest(sessionId, requestId);
    return entry !== undefined && (await findExecution(store, sessionId, entry)) !== undefined;
  };
  const isDone = isApplied ?? isInEffect;
  try {
    // Stored first: whatever is said about it later holds.
    await run({ by, requestId, until: 'accepted' });
    if (await isDone()) return 'applied';
    if (timeoutMs === undefined) return (await findWorker(store, clock)).type === 'alive' ? 'stored' : 'no-worker';
    return await waitForWorker(context, run({ by, requestId }), isDone);
  } catch (error) {
    throw toRefusal(error);
  }
}

async function waitForWorker(context: CommandContext, result: Promise<unknown>, isApplied: () => Promise<boolean>): Promise<ActionState> {
  const { store, clock, timeoutMs = 0 } = context;
  const ending = new AbortController();
  const signal = AbortSignal.any([context.signal, ending.signal]);
  const findMissing = async (): Promise<ActionState> => {
    const { type } = await findWorker(store, clock);
    return type === 'alive' ? new Promise<never>(() => undefined) : 'no-worker';
  };
  const waits = [
    result.then((): ActionState => 'applied'),
    waitUntil(isApplied, clock, signal),
    sleep(clock, timeoutMs, signal).then((): ActionState => 'timed-out'),
    findMissing(),
  ];
  try {
    return await Promise.race(waits);
  } finally {
    ending.abort();
  }
}

/** Returns the exit code for the state of an action. */
export const toActionExitCode = (state: ActionState, { timeoutMs }: CommandContext): ExitCode =>
  state === 'applied' || timeoutMs === undefined ? ExitCode.Ok : ExitCode.TimedOut;

/** Writes what has become of an action; `done` describes it in the past tense: "Approved pay." */
export function printAction({ output, timeoutMs = 0 }: CommandContext, state: ActionState, { done, facts }: ActionReport): void {
  if (output.isJson) {
    output.print(toJsonText({ ...facts, state }));
    return;
  }
  switch (state) {
    case 'applied':
      output.print(done);
      break;
    case 'stored':
      output.print('Stored. The worker applies it next.');
      break;
    case 'no-worker':
      output.print('Stored. No worker has the store now; it will be applied when one starts.');
      break;
    case 'timed-out':
      output.print(`Stored, but not applied within ${timeoutMs / 1000} s. The worker applies it when it comes to it.`);
      break;
  }
}

/** Words and facts about an action. */
export interface ActionReport {
  readonly done: string;
  readonly facts: Readonly<Record<string, unknown>>;
}
