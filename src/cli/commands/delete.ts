import { SteplineError } from '../../lib/index.ts';
import type { SessionStore } from '../../sessions/index.ts';
import type { CommandContext } from '../command-context.ts';
import type { ExitCode } from '../exit-code.ts';
import { createRefusal, usageError } from '../failures.ts';
import { toLine } from '../render/text.ts';
import { postAction, printAction, toActionExitCode } from '../worker/post-action.ts';

export interface DeleteOptions {
  /** Deletes the sessions that were forked from it too. */
  readonly forks?: boolean;
  /** Deletes without asking. */
  readonly yes?: boolean;
}

async function isDeleted(store: SessionStore, sessionId: string): Promise<boolean> {
  try {
    await store.log.load(sessionId);
    return false;
  } catch (error) {
    if (SteplineError.is(error) && error.code === 'session-deleted') return true;
    throw error;
  }
}

/** Deletes a session for good. */
export async function deleteSession(
  context: CommandContext,
  sessionId: string,
  { forks = false, yes = false }: DeleteOptions,
): Promise<ExitCode> {
  const { runtime, store, output } = context;
  const { stepCount, status } = await runtime.get(sessionId);
  if (!yes) {
    if (output.isJson || !output.isInteractive) throw usageError('Deleting cannot be undone. Pass --yes to delete the session for good.');
    const what = `session ${sessionId} (${status}, ${stepCount} steps)${forks ? ' and its forks' : ''}`;
    const answer = await output.ask(toLine(`Delete ${what} for good? [y/N] `));
    if (!/^y(?:es)?$/i.test(answer.trim())) throw createRefusal('Not deleted. Nothing was changed.');
  }
  const state = await postAction(context, {
    sessionId,
    run: (action) => runtime.delete(sessionId, { ...action, forks }),
    isApplied: () => isDeleted(store, sessionId),
  });
  printAction(context, state, { done: toLine(`Deleted session ${sessionId}.`), facts: { action: 'delete', sessionId, forks } });
  return toActionExitCode(state, context);
}
