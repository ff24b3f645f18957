// Answers of a page to what a session waits for.
// G1. An approval counts for exactly what was shown: its id is the digest of the call. One that was never asked for is forged.
// G2. All answers are checked before any is given: a forged one among them stops all.
// G3. An answer that somebody has given before, in another tab for example, is not given again. The opposite answer is too late.
// G4. A call of which something was hidden is not approved here: nobody has seen all of it.
import type { Json } from '../../../lib/index.ts';
import { describeValue, InvalidArgumentError, jsonEquals, omitUndefined, readField, systemIds } from '../../../lib/index.ts';
import type { ActionOptions, Session, StoredEventOf } from '../../../sessions/index.ts';
import { ForgedApprovalError, LateAnswerError } from '../../../sessions/index.ts';
import type { Caller, RequestedWait } from '../../http/index.ts';
import { findOpenWait, HiddenArgumentsError, toAnsweredWait, toOrigin, toShownArgs } from '../../http/index.ts';
import type { ChatServices } from './chat-options.ts';
import type { ApprovalAnswer, ChatPost, OutputAnswer } from './read-post.ts';

type Answers = Extract<ChatPost, { readonly type: 'answers' }>;

/** A page, and the session that it answers. */
interface Answerer {
  readonly services: ChatServices;
  readonly caller: Caller;
  readonly session: Session;
}

/** An answer that was checked. Given again, it has no effect, and waits for what is asked for. */
export type CheckedAnswer = (until: 'accepted' | 'rest') => Promise<unknown>;

/** Finds how a call that was asked for under a digest was decided. */
async function findDecision(
  { services, session }: Answerer,
  digest: string,
): Promise<{ waitId: string; decided?: StoredEventOf<'WaitResolved'> } | undefined> {
  let [waitId, decided]: [string?, StoredEventOf<'WaitResolved'>?] = [];
  for await (const event of services.runtime.events(session.id)) {
    if (event.type === 'WaitResolved' && event.waitId === waitId) decided ??= event;
    if (event.type === 'ToolApprovalRequested' && event.digest === digest)
      [waitId, decided] = [event.waitId ?? event.toolCallId, undefined];
  }
  return waitId === undefined ? undefined : { waitId, ...(decided !== undefined && { decided }) };
}

/** True if a call was approved with these arguments. */
async function isApprovedWith({ services, session }: Answerer, digest: string, args: Json): Promise<boolean> {
  const actions = await services.runtime.actions(session.id);
  return actions.some(
    (action) => action.type === 'approve' && action.digest === digest && action.args !== undefined && jsonEquals(action.args, args),
  );
}

/** Throws unless the same answer was given before. */
async function checkGiven(answerer: Answerer, { id, isApproved }: ApprovalAnswer, edited: Json | undefined): Promise<void> {
  const found = await findDecision(answerer, id);
  if (found === undefined) throw new ForgedApprovalError(id);
  const decision = found.decided?.decision;
  const isSame = decision === (isApproved ? 'approved' : 'rejected');
  if (isSame && (edited === undefined || (await isApprovedWith(answerer, id, edited)))) return;
  const by = found.decided?.by.id ?? '';
  const other = isSame ? ', with other arguments' : '';
  throw new LateAnswerError(found.waitId, decision === undefined ? 'it is not waited for any more' : `it was ${decision} by ${by}${other}`);
}

function checkShown({ services: { redactor } }: Answerer, wait: RequestedWait): void {
  const { hidden_fields: hidden } = 'args' in wait ? toShownArgs(wait.args, { redactor, maxLength: Infinity }) : { hidden_fields: [] };
  if (hidden.length > 0) throw new HiddenArgumentsError(wait.id, hidden);
}

/** Codes of answers that somebody else has given meanwhile. */
const lateCodes = ['late-answer', 'already-answered', 'not-waiting', 'stale-approval'];

async function checkApproval(answerer: Answerer, answer: ApprovalAnswer, edits: Answers['edits']): Promise<readonly CheckedAnswer[]> {
  const { services, caller, session } = answerer;
  const { runtime, gate } = services;
  const wait = await findOpenWait(runtime, session, ({ digest, type }) => digest === answer.id && type === 'approval');
  if (wait === undefined) {
    await checkGiven(answerer, answer, edits.get(answer.id));
    return [];
  }
  const args = omitUndefined({ args: edits.get(answer.id) });
  const reason = answer.reason === undefined ? {} : { reason: answer.reason };
  await gate.check(
    caller,
    answer.isApproved
      ? { action: 'approve', session, wait: toAnsweredWait(wait, args) }
      : { action: 'reject', session, wait, input: reason },
  );
  if (answer.isApproved) checkShown(answerer, wait);
  const given = { id: wait.id, digest: wait.digest, sessionId: session.id };
  const requestId = systemIds();
  const act = (options: ActionOptions): Promise<unknown> =>
    answer.isApproved
      ? runtime.approve(session.id, given, { ...options, ...args })
      : runtime.reject(session.id, given, { ...options, ...reason });
  return [
    (until) =>
      act({ ...toOrigin(caller), until, requestId }).catch(async (error: unknown) => {
        if (!lateCodes.includes(String(readField(error, 'code')))) throw error;
        await checkGiven(answerer, answer, args.args);
      }),
  ];
}

async function checkOutput({ services, caller, session }: Answerer, answer: OutputAnswer): Promise<readonly CheckedAnswer[]> {
  const { runtime, gate } = services;
  const open = session.waitingFor.find(({ id, type }) => id === answer.toolCallId && (type === 'client-tool' || type === 'unknown-call'));
  // Calls that ended before are part of the page's message too.
  if (open === undefined) return [];
  const wait = await findOpenWait(runtime, session, ({ id }) => id === open.id);
  const { errorText, output: value = null } = answer;
  const decision =
    errorText === undefined ? { action: 'answer' as const, input: { value } } : { action: 'reject' as const, input: { reason: errorText } };
  await gate.check(caller, { ...decision, session, ...(wait !== undefined && { wait }) });
  const origin = toOrigin(caller);
  const given = { id: open.id, digest: open.digest, sessionId: session.id };
  const requestId = systemIds();
  return [
    (until) =>
      errorText === undefined
        ? runtime.answer(session.id, given, { ...origin, until, requestId, value })
        : runtime.reject(session.id, given, { ...origin, until, requestId, reason: errorText }),
  ];
}

/** Checks the answers of a page, and returns those that are still to be given. */
export async function checkAnswers(answerer: Answerer, { approvals, outputs, edits }: Answers): Promise<readonly CheckedAnswer[]> {
  const unknown = [...edits.keys()].find((id) => !approvals.some((approval) => approval.id === id && approval.isApproved));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`edits has arguments for ${describeValue(unknown)}, which this request does not approve.`);
  const checked: CheckedAnswer[] = [];
  // Edited arguments are given first: if they do not fit, nothing else was done.
  for (const approval of approvals.toSorted((one, other) => Number(edits.has(other.id)) - Number(edits.has(one.id))))
    checked.push(...(await checkApproval(answerer, approval, edits)));
  for (const output of outputs) checked.push(...(await checkOutput(answerer, output)));
  return checked;
}
