// Actions, from the command to whichever worker picks them up.
// A1. An action is stored once, whatever becomes of the wait for it.
// A2. A refusal of the worker is the error of the command.
import type { Clock } from '../../lib/index.ts';
import { assertNever, sleep, SteplineError, toJsonText } from '../../lib/index.ts';
import type { ActionOptions } from '../../sessions/index.ts';
import { findExecution } from '../../sessions/index.ts';
import type { CommandContext } from '../command-context.ts';
import { ExitCode } from '../exit-code.ts';
import { createRefusal } from '../failures.ts';
import { toLine } from '../render/text.ts';
import type { Obstacle } from './find-workers.ts';
import { findObstacle } from './find-workers.ts';

/** State of an action when the command ends. */
export type ActionState = { readonly type: 'applied' | 'stored' | 'timed-out' } | Obstacle;

/** An action to post. */
export interface PostedAction {
  readonly sessionId: string;
  readonly run: (options: ActionOptions) => Promise<unknown>;
}

const lookMs = 50;

const applied: ActionState = { type: 'applied' };

/** Settles when a worker has taken an action; never if it refuses it. */
async function waitUntil(isApplied: () => Promise<boolean>, clock: Clock, signal: AbortSignal): Promise<ActionState> {
  while (!(await isApplied())) await sleep(clock, lookMs, signal);
  return applied;
}

/** Errors of the arguments come from the worker here: they do not fit the session. */
function toRefusal(error: unknown): unknown {
  if (SteplineError.is(error) && error.code === 'invalid-argument') return createRefusal(error.message);
  return error;
}

/** Posts an action and waits until a worker has taken it. Throws if it was refused. */
export async function postAction(context: CommandContext, { sessionId, run }: PostedAction): Promise<ActionState> {
  const { store, by, ids, timeoutMs } = context;
  const requestId = ids();
  // One that is queued behind the open step may still be refused.
  const isApplied = async (): Promise<boolean> => {
    const entry = await store.log.findRequest(sessionId, requestId);
    return entry !== undefined && (await findExecution(store, sessionId, entry)) !== undefined;
  };
  try {
    // Stored first: whatever is said about it later holds.
    await run({ by, requestId, until: 'accepted' });
    if (await isApplied()) return applied;
    if (timeoutMs === undefined) return (await findObstacle(store, sessionId)) ?? { type: 'stored' };
    return await waitForWorker(context, run({ by, requestId }), { sessionId, isApplied });
  } catch (error) {
    throw toRefusal(error);
  }
}

async function waitForWorker(
  context: CommandContext,
  result: Promise<unknown>,
  { sessionId, isApplied }: { readonly sessionId: string; readonly isApplied: () => Promise<boolean> },
): Promise<ActionState> {
  const { store, clock, timeoutMs = 0 } = context;
  const ending = new AbortController();
  const signal = AbortSignal.any([context.signal, ending.signal]);
  const findProblem = async (): Promise<ActionState> => (await findObstacle(store, sessionId)) ?? new Promise<never>(() => undefined);
  const waits = [
    result.then((): ActionState => applied),
    waitUntil(isApplied, clock, signal),
    sleep(clock, timeoutMs, signal).then((): ActionState => ({ type: 'timed-out' })),
    findProblem(),
  ];
  try {
    return await Promise.race(waits);
  } finally {
    ending.abort();
  }
}

/** Returns the exit code for the state of an action. */
export const toActionExitCode = ({ type }: ActionState, { timeoutMs }: CommandContext): ExitCode =>
  type === 'applied' || timeoutMs === undefined ? ExitCode.Ok : ExitCode.TimedOut;

/** Writes what has become of an action; `done` describes it in the past tense: "Approved pay." */
export function printAction({ output, timeoutMs = 0 }: CommandContext, state: ActionState, { done, facts }: ActionReport): void {
  if (output.isJson) {
    output.print(toJsonText({ ...facts, state: state.type }));
    return;
  }
  switch (state.type) {
    case 'applied':
      output.print(done);
      break;
    case 'stored':
      output.print('Stored. A worker applies it next.');
      break;
    case 'no-worker':
      output.print('Stored. No worker is alive now; it will be applied when one is.');
      break;
    case 'no-agent':
      output.print(toLine(`Stored. No worker that is alive runs agent "${state.agentName}"; it will be applied when one does.`));
      break;
    case 'timed-out':
      output.print(`Stored, but not applied within ${timeoutMs / 1000} s. A worker applies it when it comes to it.`);
      break;
    default:
      assertNever(state);
  }
}

/** Words and facts about an action. */
export interface ActionReport {
  readonly done: string;
  readonly facts: Readonly<Record<string, unknown>>;
}
