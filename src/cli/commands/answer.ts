// Answers to waits.
// N1. An approval is bound to what was shown: it needs the digest from a list, or it shows the call in full and asks.
// N2. A call whose arguments are hidden as secrets is not shown in full: it is approved by its digest, or revealed.
import { jsonEquals } from '../../lib/index.ts';
import type { Json } from '../../lib/index.ts';
import type { Session, SessionWait } from '../../sessions/index.ts';
import type { CommandContext } from '../command-context.ts';
import type { ExitCode } from '../exit-code.ts';
import { createRefusal, usageError } from '../failures.ts';
import { renderFacts } from '../render/page.ts';
import { toJsonText, toLine } from '../render/text.ts';
import { postAction, printAction, toActionExitCode } from '../worker/post-action.ts';
import { describeWait } from './describe-wait.ts';

/** The wait that is answered. */
export interface AnswerTarget {
  readonly sessionId: string;
  readonly waitId: string;
}

export interface ApproveOptions {
  /** Digest of what was shown. */
  readonly digest?: string;
  /** Other arguments to call the tool with. */
  readonly args?: unknown;
  /** Approves what is shown, without asking. */
  readonly yes?: boolean;
}

function findWait(session: Session, waitId: string): SessionWait {
  const wait = session.waitingFor.find(({ id }) => id === waitId);
  if (wait !== undefined) return wait;
  const open = session.waitingFor.map(({ id }) => id);
  const others = open.length === 0 ? 'It waits for nothing.' : `It waits for ${open.join(', ')}.`;
  throw createRefusal(`Session "${session.id}" is not waiting for "${waitId}" (any more). ${others}`);
}

/** Shows exactly what an approval is for. */
function printCall(wait: SessionWait & { readonly args: Json }, edited: unknown, output: CommandContext['output']): void {
  const print = output.isJson ? output.note : output.print;
  const { page } = output;
  print(page.style('yellow', toLine(describeWait(wait))));
  print(
    renderFacts(
      page,
      [
        ['session', wait.sessionId],
        ['wait', wait.id],
        ['digest', wait.digest],
      ],
      '  ',
    ),
  );
  print(`${page.style('dim', 'arguments')}\n${toJsonText(wait.args, 2)}`);
  if (edited !== undefined) print(`${page.style('dim', 'arguments that replace them')}\n${toJsonText(edited, 2)}`);
}

async function confirm({ output }: CommandContext): Promise<void> {
  const answer = await output.ask('Approve exactly this call? [y/N] ');
  if (!/^y(?:es)?$/i.test(answer.trim())) throw createRefusal('Not approved. Nothing was changed.');
}

/** Shows a call and asks; returns the digest of what was shown. */
async function approveShown(
  context: CommandContext,
  { sessionId, waitId }: AnswerTarget,
  { args, yes = false }: ApproveOptions,
): Promise<string> {
  const { runtime, output } = context;
  if (!yes && (output.isJson || !output.isInteractive))
    throw usageError(
      'An approval is for what was shown: pass its --digest (stepline waits lists it), or --yes to approve what is shown now.',
    );
  const wait = findWait(await runtime.get(sessionId), waitId);
  if (!('args' in wait)) throw createRefusal(`"${waitId}" is waiting for ${describeWait(wait)}, not for an approval.`);
  if (!jsonEquals(output.redactor.value(wait.args), wait.args))
    throw createRefusal(
      'Some arguments of this call are hidden as secrets. Pass --reveal to see what you approve, or the --digest that you were shown.',
    );
  printCall(wait, args, output);
  if (!yes) await confirm(context);
  return wait.digest;
}

/** Approves a call that waits. */
export async function approve(context: CommandContext, target: AnswerTarget, options: ApproveOptions): Promise<ExitCode> {
  const { sessionId, waitId } = target;
  const digest = options.digest ?? (await approveShown(context, target, options));
  const edited = options.args === undefined ? {} : { args: options.args };
  const state = await postAction(context, {
    sessionId,
    run: (action) => context.runtime.approve(sessionId, { id: waitId, digest, sessionId }, { ...action, ...edited }),
  });
  printAction(context, state, {
    done: toLine(`Approved ${waitId} in session ${sessionId}.`),
    facts: { action: 'approve', sessionId, waitId, digest },
  });
  return toActionExitCode(state, context);
}

/** Rejects a wait; the model reads the reason. */
export async function reject(
  context: CommandContext,
  { sessionId, waitId }: AnswerTarget,
  { reason, digest }: { readonly reason: string; readonly digest?: string },
): Promise<ExitCode> {
  const wait = { id: waitId, sessionId, ...(digest !== undefined && { digest }) };
  const state = await postAction(context, { sessionId, run: (action) => context.runtime.reject(sessionId, wait, { ...action, reason }) });
  printAction(context, state, {
    done: toLine(`Rejected ${waitId} in session ${sessionId}.`),
    facts: { action: 'reject', sessionId, waitId },
  });
  return toActionExitCode(state, context);
}

/** Answers a wait with a value. */
export async function answer(
  context: CommandContext,
  { sessionId, waitId }: AnswerTarget,
  { value, digest }: { readonly value: unknown; readonly digest?: string },
): Promise<ExitCode> {
  const wait = { id: waitId, sessionId, ...(digest !== undefined && { digest }) };
  const state = await postAction(context, { sessionId, run: (action) => context.runtime.answer(sessionId, wait, { ...action, value }) });
  printAction(context, state, {
    done: toLine(`Answered ${waitId} in session ${sessionId}.`),
    facts: { action: 'answer', sessionId, waitId },
  });
  return toActionExitCode(state, context);
}
