// Answers in the input of a run.
// F1. An answer that was not asked for has no effect, and is refused with its own sentence.
// F2. Nobody answers who may not: the host is asked about each answer.
import { jsonEquals } from '../../lib/index.ts';
import type { RecordedAction, Session, SessionWait } from '../../sessions/index.ts';
import { ForgedApprovalError, StaleApprovalError } from '../../sessions/index.ts';
import type { RequestedWait } from '../http/index.ts';
import { assertSeen, createWaitError, findOpenWait, readWaitHistory } from '../http/index.ts';
import type { Decision, GivenAnswer } from './answers.ts';
import { readDecision, readToolDecision, toAnswerRequestId } from './answers.ts';
import type { AgUiServices } from './handler-options.ts';
import { readInterruptId, toInterruptId } from './interrupts.ts';
import type { ResumeEntry, RunInput } from './read-input.ts';
import { findWaitCalls } from './wait-calls.ts';

/** A request about a session. */
export interface SessionRun {
  readonly services: AgUiServices;
  readonly request: Request;
  readonly input: RunInput;
  readonly session: Session;
}

/** Asks the host whether somebody may decide about a wait. */
async function authorizeAnswer({ services, request, session }: SessionRun, wait: RequestedWait, decision: Decision): Promise<GivenAnswer> {
  const { by } = await services.gate.check({ request, action: decision.action, session, wait });
  const view = { redactor: services.redactor, maxLength: Infinity };
  if (decision.action === 'approve') await assertSeen({ signer: services.signer, view }, { wait, by }, decision.seen);
  return { interruptId: toInterruptId(wait), wait: { waitId: wait.id, digest: wait.digest }, decision, by };
}

/** True if an action is what an entry asks for. */
function isSameDecision(action: RecordedAction, entry: ResumeEntry): boolean {
  if (action.type === 'approve' || action.type === 'reject') {
    const decision = readDecision(entry, { type: 'approval' });
    if (decision.action !== action.type) return false;
    return decision.action !== 'approve' || action.type !== 'approve' || jsonEquals(decision.args ?? null, action.args ?? null);
  }
  if (action.type === 'answer') return entry.status === 'resolved' && jsonEquals(action.value, readValue(entry));
  return (action.type === 'cancel') === (entry.status === 'cancelled');
}

const readValue = (entry: ResumeEntry) => {
  const decision = readDecision(entry, { type: 'client-tool' });
  return decision.action === 'answer' ? decision.value : null;
};

/** Returns if the same answer was given before. Throws for any other answer to something that is not waited for. */
async function assertRepeated({ services: { runtime, gate }, request, session }: SessionRun, entry: ResumeEntry): Promise<void> {
  await gate.check({ request, action: 'get', session });
  const requestId = toAnswerRequestId(entry.interruptId);
  const { waitId, digest } = readInterruptId(entry.interruptId);
  const earlier = (await runtime.actions(session.id)).find((action) => action.requestId === requestId);
  if (earlier !== undefined && earlier.refused === undefined && isSameDecision(earlier, entry)) return;
  if (session.waitingFor.some(({ id }) => id === waitId)) {
    const { digests } = await readWaitHistory(runtime, session.id, waitId);
    throw digests.has(digest) ? new StaleApprovalError(waitId) : new ForgedApprovalError(waitId);
  }
  throw await createWaitError(runtime, session, waitId);
}

async function takeEntry(run: SessionRun, entry: ResumeEntry): Promise<readonly GivenAnswer[]> {
  const { services, session } = run;
  const isMeant = (wait: SessionWait): boolean => toInterruptId(wait) === entry.interruptId;
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
    if (answer !== undefined && wait !== undefined) given.push(await authorizeAnswer(run, wait, readToolDecision(answer)));
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
