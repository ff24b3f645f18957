// Sessions as clients see them.
import type { SlimAgentStateSerializer } from '../../agent/index.ts';
import { AgentState } from '../../agent/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { present } from '../../lib/index.ts';
import type { RecordedAction, Session, SessionApproval, SessionFacts, SessionResult, SessionSummary } from '../../sessions/index.ts';
import type { RunState } from '../../step-by-step/index.ts';
import type { WaitViewOptions } from './wait-view.ts';
import { toIso, toShownArgs, toWaitView } from './wait-view.ts';

/** Settings for showing sessions. */
export interface SessionViewOptions extends WaitViewOptions {
  readonly slim: SlimAgentStateSerializer;
}

/** Shows who owns a session, and where it comes from. */
export function toFactsView({ id, agent, tenant, owner, tags, createdAt, forkedFrom: from }: SessionFacts): JsonObject {
  const forked_from = from && { session_id: from.sessionId, execution: from.execution, step: from.step };
  const shown = present({ id: agent.id, version: agent.version });
  return present({ session_id: id, agent: shown, tenant, owner, tags, created_at: toIso(createdAt), forked_from });
}

/** Shows which worker runs a session, without its machine. */
export const toWorkerView = ({ worker }: Pick<Session, 'worker'>): JsonObject =>
  worker === undefined
    ? {}
    : {
        worker: present({
          name: worker.name ?? (worker.pid === undefined ? 'a worker' : `process ${worker.pid}`),
          silent_ms: worker.silentMs,
        }),
      };

type Progress = Omit<SessionSummary, keyof SessionFacts | 'waitingFor'>;

const toProgress = ({ status, stopReason, updatedAt, executions, stepCount, lastSeq }: Progress): JsonObject =>
  present({ status, stop_reason: stopReason, updated_at: toIso(updatedAt), executions, step_count: stepCount, last_seq: lastSeq });

/** Shows a session in a list. */
export function toSummaryView(session: SessionSummary): JsonObject {
  const waiting_for = session.waitingFor.map(({ id, type, toolName, reason }) => present({ wait_id: id, type, tool: toolName, reason }));
  return { ...toFactsView(session), ...toProgress(session), waiting_for };
}

/** Shows the conversation of a state that has no slim form: the newest messages, in short. */
function toMessages(state: RunState, { slim }: SessionViewOptions): JsonObject {
  const { maxMessages, maxContentLength } = slim.config;
  const first = Math.max(0, state.messages.length - maxMessages);
  const messages = state.messages
    .filter((_, index) => index >= first)
    .map(({ id, role, name, text }) => {
      const isCut = text.length > maxContentLength;
      return present({ message_id: id, role, name, text: isCut ? `${text.slice(0, maxContentLength)}…` : text });
    });
  return { messages, omitted: { messages: first } };
}

const toQueued = ({ type, by, at }: RecordedAction): JsonObject => ({ type, by: { id: by.id, kind: by.kind }, at: toIso(at) });

/** Shows an approval that was given for the rest of the session. */
function toApprovalView({ id, toolName, args, by, at, uses, maxUses, expiresAt }: SessionApproval, options: WaitViewOptions): JsonObject {
  const covered = args === undefined ? {} : toShownArgs(args, options);
  const given = { approval_id: id, tool: toolName, ...covered, by: { id: by.id, kind: by.kind }, at: toIso(at) };
  return { ...given, uses, max_uses: maxUses, expires_at: toIso(expiresAt) };
}

/** Shows a session, its state in short. */
export function toSessionView(session: Session, options: SessionViewOptions): JsonObject {
  const { state, text, waitingFor, mailbox, approvals } = session;
  // Holds: a slim payload is JSON.
  const slim = state instanceof AgentState ? (options.slim.serialize(state) as unknown as JsonObject) : toMessages(state, options);
  return {
    ...toFactsView(session),
    ...toProgress(session),
    ...toWorkerView(session),
    text,
    sentence: session.explain(),
    waiting_for: waitingFor.map((wait) => toWaitView(wait, options)),
    approvals: approvals.map((approval) => toApprovalView(approval, options)),
    queued: mailbox.map(toQueued),
    state: slim,
  };
}

/** Shows the result of an action. */
export function toResultView(result: SessionResult, options: SessionViewOptions): JsonObject {
  const { sessionId, execution, status, stopReason, text, waitingFor, isRepeated, isPending } = result;
  return present({
    session_id: sessionId,
    execution,
    status,
    stop_reason: stopReason,
    text,
    sentence: result.explain(),
    waiting_for: waitingFor.map((wait) => toWaitView(wait, options)),
    is_repeated: isRepeated,
    is_pending: isPending,
  });
}
