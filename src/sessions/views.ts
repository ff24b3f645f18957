import type { ExplainStateOptions, RunState, Wait } from '../step-by-step/index.ts';
import { approvalDigest, toShownCall } from './approval-digest.ts';
import { getAskedAt } from './expiry.ts';
import type { Session, SessionFacts, SessionWait, Turn } from './session.ts';
import { shownStatus } from './session.ts';

/** When something that is waited for is settled without anybody. */
interface Expiring {
  readonly expiresAt: (wait: Pick<SessionWait, 'type'>, askedAt: number) => number | undefined;
}

async function toWait(
  sessionId: string,
  shown: { readonly state: RunState; readonly wait: Wait },
  expiresAt: number | undefined,
): Promise<SessionWait> {
  const { state, wait } = shown;
  const digest = await approvalDigest(sessionId, toShownCall(state, wait));
  return { ...wait, sessionId, digest, ...(expiresAt !== undefined && { expiresAt }) };
}

function waitsOf(sessionId: string, state: RunState, { expiresAt }: Expiring): Promise<readonly SessionWait[]> {
  const { pendingStep, waitingFor } = state;
  const end = (wait: Wait): number | undefined => (pendingStep === undefined ? undefined : expiresAt(wait, getAskedAt(pendingStep, wait)));
  return Promise.all(waitingFor.map((wait) => toWait(sessionId, { state, wait }, end(wait))));
}

/** What came of an execution. */
export async function toTurn(
  { id }: SessionFacts,
  current: RunState,
  { execution: number, ...expiry }: Expiring & { readonly execution: number },
): Promise<Turn> {
  const { past, execution } = current.data;
  const wanted = number === execution.number ? execution : past.toArray().find((each) => each.number === number);
  const state = wanted === undefined || wanted === execution ? current : current.evolve({ execution: wanted });
  const { stopReason, text, usage } = state;
  return {
    sessionId: id,
    execution: state.execution.number,
    status: shownStatus(state),
    text,
    usage,
    waitingFor: await waitsOf(id, state, expiry),
    ...(stopReason !== undefined && { stopReason }),
    explain: (options) => explained(state, options),
  };
}

/** Why it stands where it stands. What was spoken to is under way, also where nothing of it is recorded yet. */
const explained = (state: RunState, options: ExplainStateOptions | undefined): string =>
  shownStatus(state) === state.status ? state.explain(options) : 'Under way: no step has ended yet.';

/** A whole session. */
export async function toSession(facts: SessionFacts, state: RunState, expiry: Expiring): Promise<Session> {
  const { stopReason, text } = state;
  const { stepCount, usage } = state.session;
  const session: Omit<Session, 'state'> = {
    ...facts,
    status: shownStatus(state),
    text,
    usage,
    updatedAt: state.info.updatedAt,
    executions: state.execution.number,
    stepCount,
    lastSeq: state.data.lastSeq,
    waitingFor: await waitsOf(facts.id, state, expiry),
    ...(stopReason !== undefined && { stopReason }),
    explain: (options) => explained(state, options),
  };
  // Not listed among its fields: whoever sends a session to a page sends no secrets with it.
  return Object.defineProperty(session, 'state', { value: state }) as Session;
}
