// Actions on the execution of a session.
import type { Grant } from '../../step-by-step/index.ts';
import type { CommandContext } from '../command-context.ts';
import type { ExitCode } from '../exit-code.ts';
import { toLine } from '../render/text.ts';
import { postAction, printAction, toActionExitCode } from '../worker/post-action.ts';

/** Raises the limits of the execution that runs or waits. */
export async function grant(context: CommandContext, sessionId: string, amounts: Grant): Promise<ExitCode> {
  const state = await postAction(context, { sessionId, run: (action) => context.runtime.grant(sessionId, amounts, action) });
  const list = Object.entries(amounts)
    .map(([name, amount]) => `${name} ${String(amount)}`)
    .join(', ');
  printAction(context, state, { done: toLine(`Granted ${list} to session ${sessionId}.`), facts: { action: 'grant', sessionId, amounts } });
  return toActionExitCode(state, context);
}

/** Ends the execution that runs or waits. */
export async function cancel(context: CommandContext, sessionId: string, reason: string): Promise<ExitCode> {
  const state = await postAction(context, { sessionId, run: (action) => context.runtime.cancel(sessionId, reason, action) });
  printAction(context, state, { done: toLine(`Cancelled session ${sessionId}.`), facts: { action: 'cancel', sessionId, reason } });
  return toActionExitCode(state, context);
}

/** Resumes a session that was left with something to do, or tries a provider again. */
export async function resume(context: CommandContext, sessionId: string): Promise<ExitCode> {
  const state = await postAction(context, { sessionId, run: (action) => context.runtime.resume(sessionId, action) });
  printAction(context, state, { done: toLine(`Resumed session ${sessionId}.`), facts: { action: 'resume', sessionId } });
  return toActionExitCode(state, context);
}
