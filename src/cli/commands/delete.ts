import type { CommandContext } from '../command-context.ts';
import { ExitCode } from '../exit-code.ts';
import { createRefusal, usageError } from '../failures.ts';
import { toLine } from '../render/text.ts';
import { printAction } from '../worker/post-action.ts';

export interface DeleteOptions {
  /** Deletes the sessions that were forked from it too. */
  readonly forks?: boolean;
  /** Deletes without asking. */
  readonly yes?: boolean;
}

/** Deletes a session for good, whoever runs it. Needs no worker. */
export async function deleteSession(
  context: CommandContext,
  sessionId: string,
  { forks = false, yes = false }: DeleteOptions,
): Promise<ExitCode> {
  const { runtime, output, by } = context;
  const { stepCount, status } = await runtime.get(sessionId);
  if (!yes) {
    if (output.isJson || !output.isInteractive) throw usageError('Deleting cannot be undone. Pass --yes to delete the session for good.');
    const what = `session ${sessionId} (${status}, ${stepCount} steps)${forks ? ' and its forks' : ''}`;
    const answer = await output.ask(toLine(`Delete ${what} for good? [y/N] `));
    if (!/^y(?:es)?$/i.test(answer.trim())) throw createRefusal('Not deleted. Nothing was changed.');
  }
  await runtime.delete(sessionId, { by, forks });
  printAction(
    context,
    { type: 'applied' },
    { done: toLine(`Deleted session ${sessionId}.`), facts: { action: 'delete', sessionId, forks } },
  );
  return ExitCode.Ok;
}
