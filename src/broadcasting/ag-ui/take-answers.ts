// Answers in the input of a run.
// F1. An answer that was not asked for has no effect, and is refused with its own sentence.
// F2. Nobody answers who may not: the host is asked about each answer, with what it will do, before any is given.
import { jsonEquals } from '../../lib/index.ts';
import type { RecordedAction, Session, SessionWait } from '../../sessions/index.ts';
import { ForgedApprovalError, StaleApprovalError } from '../../sessions/index.ts';
import type { ActionInput, Caller, RequestedWait } from '../http/index.ts';
import { assertSeen, createWaitError, findOpenWait, readWaitHistory, toAnsweredWait, toOrigin } from '../http/index.ts';
import type { Decision, GivenAnswer } from './answers.ts';
import { readDecision, readToolDecision } from './answers.ts';
import type { AgUiServices } from './handler-options.ts';
import type { InterruptRef } from './interrupts.ts';
import { readInterruptId, toInterruptId } from './interrupts.ts';
import type { ResumeEntry, RunInput } from './read-input.ts';
import { findWaitCalls } from './wait-calls.ts';

/** A request about a session. */
export interface SessionRun {
  readonly services: AgUiServices;
  readonly caller: Caller;
  readonly input: RunInput;
  readonly session: Session;
}

/** Returns what a decision will do. The arguments of an approval are those of its wait. */
function toInput({ action: _, ...decision }: Decision): ActionInput {
  const { args: _args, seen: _seen, ...input } = { args: undefined, seen: undefined, ...decision };
  return input;
}

/** Asks the host whether somebody may decide about a wait. */
async function authorizeAnswer({ services, caller, session }: SessionRun, wait: RequestedWait, decision: Decision): Promise<GivenAnswer> {
  const { by } = caller;
  const answered = decision.action === 'approve' ? toAnsweredWait(wait, decision) : wait;
  await services.gate.check(caller, { action: decision.action, session, wait: answered, input: toInput(decision) });
  const view = { redactor: services.redactor, maxLength: Infinity };
  if (decision.action === 'approve') await assertSeen({ signer: services.signer, view }, { wait, by }, decision.seen);
  return {
    interruptId: toInterruptId(wait, session.stepCount),
    wait: { waitId: wait.id, digest: wait.digest },
    decision,
    ...toOrigin(caller),
  };
}

/** True if an action is the same decision. */
function isSameDecision(action: RecordedAction, decision: Decision): boolean {
  if (action.type !== decision.action) return false;
  if (action.type === 'approve' && decision.action === 'approve') return jsonEquals(decision.args ?? null, action.args ?? null);
  return action.type !== 'answer' || decision.action !== 'answer' || jsonEquals(action.value, decision.value);
}

/** True if the same decision about a wait was made before. */
export async function isRepeatedAnswer(
  { services: { runtime }, session }: Pick<SessionRun, 'services' | 'session'>,
  { waitId, digest }: InterruptRef,
  decision: Decision,
): Promise<boolean> {
  const actions = await runtime.actions(session.id);
  const last = actions.findLast((action) => 'waitId' in action && action.waitId === waitId && action.digest === digest);
  return last !== undefined && last.refused === undefined && isSameDecision(last, decision);
}

/** Returns if the same answer was given before. Throws for any other answer to something that is not waited for. */
async function assertRepeated(run: SessionRun, entry: ResumeEntry): Promise<void> {
  const { services, caller, session } = run;
  const { runtime, gate } = services;
  await gate.check(caller, { action: 'get', session });
  const { waitId, digest } = readInterruptId(entry.interruptId);
  // Only the digest says what it was: an approval, or a call of the page.
  for (const type of ['approval', 'client-tool'] as const) {
    const decision = tryReadDecision(entry, type);
    if (decision !== undefined && (await isRepeatedAnswer(run, { waitId, digest }, decision))) return;
  }
  if (session.waitingFor.some(({ id }) => id === waitId)) {
    const { digests } = await readWaitHistory(runtime, session.id, waitId);
    throw digests.has(digest) ? new StaleApprovalError(waitId) : new ForgedApprovalError(waitId);
  }
  throw await createWaitError(runtime, session, waitId);
}

function tryReadDecision(entry: ResumeEntry, type: 'approval' | 'client-tool'): Decision | undefined {
  try {
    return readDecision(entry, { type });
  } catch {
    return undefined;
  }
}

async function takeEntry(run: SessionRun, entry: ResumeEntry): Promise<readonly GivenAnswer[]> {
  const { services, session } = run;
  const isMeant = (wait: SessionWait): boolean => toInterruptId(wait, session.stepCount) === entry.interruptId;
  const wait = await findOpenWait(services.runtime, session, isMeant);
  if (wait !== undefined) return [await authorizeAnswer(run, wait, readDecision(entry, wait))];
  await assertRepeated(run, entry);
  return [];
}

/** Takes the outputs of tools that the page ran. Those of earlier runs are history, and do not count. */
async function takeToolAnswers(run: SessionRun): Promise<readonly GivenAnswer[]> {
  const { services, session, input } = run;
  const waits = session.waitingFor.filter(({ type }) => type === 'client-tool');
  if (waits.length === 0 || input.toolAnswers.length === 0) return [];
  const calls = await findWaitCalls(services.runtime, session);
  const given: GivenAnswer[] = [];
  for (const { id } of waits) {
    const answer = input.toolAnswers.findLast(({ toolCallId }) => toolCallId === calls.get(id)?.callId);
    const wait = answer && (await findOpenWait(services.runtime, session, (each) => each.id === id));
    if (answer !== undefined && wait !== undefined)
      given.push(await authorizeAnswer(run, wait, readToolDecision(answer, services.maxBodyBytes)));
  }
  return given;
}

/** Reads the answers of an input that the caller may give. Answers that were given before are left out. */
export async function takeAnswers(run: SessionRun): Promise<readonly GivenAnswer[]> {
  const answers: GivenAnswer[] = [];
  for (const entry of run.input.resume) answers.push(...(await takeEntry(run, entry)));
  const resumed = new Set(answers.map(({ interruptId }) => interruptId));
  return [...answers, ...(await takeToolAnswers(run)).filter(({ interruptId }) => !resumed.has(interruptId))];
}
