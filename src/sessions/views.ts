import { omitUndefined } from '../lib/index.ts';
import type { ExplainStateOptions, RunResult, RunState } from '../step-by-step/index.ts';
import { approvalDigest, toShownCall } from './approval-digest.ts';
import type { ExpiryOptions } from './expiry.ts';
import { getExpiresAt } from './expiry.ts';
import type { Session, SessionFacts, SessionResult, SessionWait } from './session.ts';
import { getShownStatus } from './session.ts';

function toWaits(sessionId: string, state: RunState, approvals: ExpiryOptions | undefined): Promise<readonly SessionWait[]> {
  return Promise.all(
    state.waitingFor.map(async (wait) => ({
      ...wait,
      sessionId,
      digest: await approvalDigest(sessionId, toShownCall(state, wait)),
      ...omitUndefined({ expiresAt: getExpiresAt(approvals, state, wait) }),
    })),
  );
}

interface SessionResultOptions {
  readonly execution: number;
  readonly isRepeated: boolean;
  readonly approvals: ExpiryOptions | undefined;
  readonly toResult: (state: RunState) => Promise<RunResult>;
}

/** Returns the result of an execution of this session. */
export async function toSessionResult(sessionId: string, current: RunState, options: SessionResultOptions): Promise<SessionResult> {
  const { past, execution } = current.data;
  const { execution: number, isRepeated, approvals, toResult } = options;
  const wanted = number === execution.number ? execution : past.toArray().find((each) => each.number === number);
  const state = wanted === undefined || wanted === execution ? current : current.evolve({ execution: wanted });
  const status = getShownStatus(state);
  const { text, usage, cost } = state;
  const isOpen = status === 'pending' || status === 'in_progress';
  const result = isOpen ? omitUndefined({ status, text, usage, cost }) : await toResult(state);
  return withHiddenState<SessionResult>(state, {
    ...result,
    sessionId,
    execution: state.execution.number,
    waitingFor: await toWaits(sessionId, state, approvals),
    ...(isRepeated && { isRepeated }),
    explain: (options) => explain(state, options),
  });
}

// A session that has a message to work on is in progress, even if nothing of it is recorded yet.
const explain = (state: RunState, options: ExplainStateOptions | undefined): string =>
  getShownStatus(state) === state.status ? state.explain(options) : 'Under way: no step has ended yet.';

/** Adds the state as a field that is not listed: whoever sends the view to a page sends no secrets with it. */
function withHiddenState<View extends { readonly state: RunState }>(state: RunState, view: Omit<View, 'state'>): View {
  return Object.defineProperty({ ...view }, 'state', { value: state, enumerable: false }) as View;
}

/** Returns a whole session. */
export async function toSession(facts: SessionFacts, state: RunState, approvals: ExpiryOptions | undefined): Promise<Session> {
  const { stopReason, text } = state;
  const { stepCount, usage } = state.session;
  return withHiddenState<Session>(state, {
    ...facts,
    status: getShownStatus(state),
    text,
    usage,
    updatedAt: state.info.updatedAt,
    executions: state.execution.number,
    stepCount,
    lastSeq: state.data.lastSeq,
    waitingFor: await toWaits(facts.id, state, approvals),
    ...omitUndefined({ stopReason }),
    explain: (options) => explain(state, options),
  });
}
