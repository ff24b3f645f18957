import type { RunState, Wait } from '../step-by-step/index.ts';
import { approvalDigest } from './approval-digest.ts';
import type { Session, SessionFacts, SessionWait, Turn } from './session.ts';

/** When something that is waited for is settled without anybody. */
interface Expiry {
  readonly expiresAt: (wait: Pick<SessionWait, 'type'>, parkedAt: number) => number | undefined;
}

async function toWait(sessionId: string, wait: Wait, expiresAt: number | undefined): Promise<SessionWait> {
  const digest = await approvalDigest(sessionId, wait);
  return { ...wait, sessionId, digest, ...(expiresAt !== undefined && { expiresAt }) };
}

function waitsOf(sessionId: string, state: RunState, { expiresAt }: Expiry): Promise<readonly SessionWait[]> {
  const parkedAt = state.pendingStep?.parkedAt;
  return Promise.all(
    state.waitingFor.map((wait) => toWait(sessionId, wait, parkedAt === undefined ? undefined : expiresAt(wait, parkedAt))),
  );
}

/** What came of an execution. */
export async function toTurn(
  { id }: SessionFacts,
  current: RunState,
  { execution: number, ...expiry }: Expiry & { readonly execution: number },
): Promise<Turn> {
  const { past, execution } = current.data;
  const wanted = number === execution.number ? execution : past.toArray().find((each) => each.number === number);
  const state = wanted === undefined || wanted === execution ? current : current.evolve({ execution: wanted });
  const { status, stopReason, text, usage } = state;
  return {
    sessionId: id,
    execution: state.execution.number,
    status,
    text,
    usage,
    waitingFor: await waitsOf(id, state, expiry),
    ...(stopReason !== undefined && { stopReason }),
    explain: (options) => state.explain(options),
  };
}

/** A whole session. */
export async function toSession(facts: SessionFacts, state: RunState, expiry: Expiry): Promise<Session> {
  const { status, stopReason, text } = state;
  const { stepCount, usage } = state.session;
  return {
    ...facts,
    status,
    text,
    usage,
    updatedAt: state.info.updatedAt,
    executions: state.execution.number,
    stepCount,
    lastSeq: state.data.lastSeq,
    waitingFor: await waitsOf(facts.id, state, expiry),
    state,
    ...(stopReason !== undefined && { stopReason }),
    explain: (options) => state.explain(options),
  };
}
