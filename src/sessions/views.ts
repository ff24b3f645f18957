import { omitUndefined } from '../lib/index.ts';
import type { ExplainStateOptions, RunResult, RunState } from '../step-by-step/index.ts';
import { approvalDigest, toShownCall } from './approval-digest.ts';
import { getAskedAt } from './expiry.ts';
import type { Session, SessionFacts, SessionResult, SessionWait } from './session.ts';
import { getShownStatus } from './session.ts';

/** When waits expire. */
interface Expiring {
  readonly expiresAt: (wait: Pick<SessionWait, 'type'>, askedAt: number) => number | undefined;
}

function toWaits(sessionId: string, state: RunState, { expiresAt }: Expiring): Promise<readonly SessionWait[]> {
  const { pendingStep, waitingFor } = state;
  return Promise.all(
    waitingFor.map(async (wait) => ({
      ...wait,
      sessionId,
      digest: await approvalDigest(sessionId, toShownCall(state, wait)),
      ...omitUndefined({ expiresAt: pendingStep && expiresAt(wait, getAskedAt(pendingStep, wait)) }),
    })),
  );
}

interface SessionResultOptions extends Expiring {
  readonly execution: number;
  readonly isRepeated: boolean;
  readonly toResult: (state: RunState) => Promise<RunResult>;
}

/** Returns the result of an execution of this session. */
export async function toSessionResult(
  { id: sessionId }: SessionFacts,
  current: RunState,
  { execution: number, isRepeated, toResult, ...expiring }: SessionResultOptions,
): Promise<SessionResult> {
  const { past, execution } = current.data;
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
    waitingFor: await toWaits(sessionId, state, expiring),
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
export async function toSession(facts: SessionFacts, state: RunState, expiring: Expiring): Promise<Session> {
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
    waitingFor: await toWaits(facts.id, state, expiring),
    ...omitUndefined({ stopReason }),
    explain: (options) => explain(state, options),
  });
}
