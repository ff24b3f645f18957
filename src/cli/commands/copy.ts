import type { Clock } from '../../lib/index.ts';
import { pluralize } from '../../lib/index.ts';
import type { Actor, SessionStore } from '../../sessions/index.ts';
import type { CopyReport } from '../copy/copy-store.ts';
import { copyStore } from '../copy/copy-store.ts';
import { ExitCode } from '../exit-code.ts';
import type { Output } from '../output.ts';
import { toJsonText, toLine } from '../render/text.ts';
import { findWorkers, isAlive } from '../worker/find-workers.ts';

/** Everything that a copy works with. */
export interface CopyContext {
  readonly source: SessionStore;
  readonly target: SessionStore;
  readonly output: Output;
  readonly by: Actor;
  readonly clock: Clock;
}

export interface CopyCommandOptions {
  /** Name of the source. */
  readonly from: string;
  readonly force?: boolean;
}

const progressEvery = 100;

function printReport(output: Output, { sessions, entries, effects, mail, holds, failed }: CopyReport): void {
  if (output.isJson) {
    output.print(toJsonText({ sessions, entries, effects, mail, holds, failed }));
    return;
  }
  const list = [
    pluralize(sessions, 'session'),
    `${entries} log entries`,
    pluralize(effects, 'effect'),
    pluralize(mail, 'mail'),
    pluralize(holds, 'hold'),
  ].join(', ');
  for (const { sessionId, reason } of failed) output.print(toLine(`Not copied: ${sessionId} ${reason}`));
  output.print(
    failed.length === 0
      ? `Copied and compared: ${list}.`
      : `Copied ${list}; ${pluralize(failed.length, 'problem')}. The target is held until a copy is complete: repeat it, or release stepline-copy.`,
  );
}

/** Copies a store into another. */
export async function copy(
  { source, target, output, ...context }: CopyContext,
  { from, force = false }: CopyCommandOptions,
): Promise<ExitCode> {
  const onProgress = (done: number, total: number): void => {
    if (!output.isJson && done % progressEvery === 0) output.note(`${done} of ${total} sessions`);
  };
  const living = (await findWorkers(source)).filter(isAlive);
  if (living.length > 0) output.note(`Workers of the source are at work (${living.length}): what they do from now on is not in the copy.`);
  const report = await copyStore(source, target, { ...context, from, force, onProgress });
  printReport(output, report);
  return report.failed.length === 0 ? ExitCode.Ok : ExitCode.Failed;
}
