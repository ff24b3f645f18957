// Calls of a step: each one message, with its result, its approval and its progress.
import type { EventEnvelope } from '../broadcasting/index.ts';
import { omitUndefined } from '../lib/index.ts';
import { getAuthor, getNumber, getText, getTexts } from './fields.ts';
import type { ToolViewMessage, ViewApproval, ViewToolCall } from './message.ts';
import { readNesting } from './nesting.ts';
import { describeCall } from './sentences.ts';

/** Finds the envelope that resolves a request for approval. */
export type FindResolution = (request: EventEnvelope) => EventEnvelope | undefined;

/** Envelopes of one call. */
export interface CallRecord {
  readonly id: string;
  /** The first that came of it. */
  first: EventEnvelope;
  started?: EventEnvelope;
  approval?: EventEnvelope;
  blocked?: EventEnvelope;
  progress?: EventEnvelope;
  completed?: EventEnvelope;
  isStored: boolean;
}

const slots = {
  'agent.tool.started': 'started',
  'agent.tool.approval_requested': 'approval',
  'agent.tool.blocked': 'blocked',
  'agent.tool.progress': 'progress',
  'agent.tool.completed': 'completed',
} as const;

const isCallEvent = (event: string): event is keyof typeof slots => Object.hasOwn(slots, event);

/** True if an envelope replaces another of its kind: a later one does, and a stored one replaces an open one. */
function isNewer(envelope: EventEnvelope, before: EventEnvelope): boolean {
  if (before.seq !== undefined) return envelope.seq !== undefined && envelope.seq >= before.seq;
  return envelope.seq !== undefined || envelope.timestamp >= before.timestamp;
}

/** Groups envelopes by call, in the order of the calls. Stored envelopes come first. */
export function groupCalls(envelopes: readonly EventEnvelope[]): readonly CallRecord[] {
  const calls = new Map<string, CallRecord>();
  for (const envelope of envelopes) {
    const { event, data, seq } = envelope;
    const id = isCallEvent(event) ? getText(data, 'tool_call_id') : undefined;
    if (!isCallEvent(event) || id === undefined) continue;
    const call = calls.get(id) ?? { id, first: envelope, isStored: false };
    calls.set(id, call);
    const slot = slots[event];
    const before = call[slot];
    if (before === undefined || isNewer(envelope, before)) call[slot] = envelope;
    if (seq !== undefined) call.isStored = true;
  }
  return [...calls.values()];
}

function toApproval(request: EventEnvelope, findResolution: FindResolution): ViewApproval {
  const { data } = request;
  const resolved = findResolution(request)?.data;
  return omitUndefined({
    wait_id: getText(data, 'wait_id') ?? '',
    digest: getText(data, 'digest'),
    expires_at: getText(data, 'expires_at'),
    hidden_fields: getTexts(data, 'hidden_fields'),
    status: resolved === undefined ? 'open' : (getText(resolved, 'decision') ?? 'resolved'),
    by: resolved && getAuthor(resolved),
    at: resolved && getText(resolved, 'at'),
    reason: resolved && getText(resolved, 'reason'),
    edited: resolved?.['edited'] === true ? true : undefined,
  });
}

function getStatus({ started, blocked, completed }: CallRecord, approval: ViewApproval | undefined): string {
  // Nobody rejected a call that a message took the place of.
  if (approval?.status === 'superseded') return 'superseded';
  if (completed !== undefined) return getText(completed.data, 'status') ?? (completed.data['success'] === true ? 'succeeded' : 'failed');
  if (blocked !== undefined) return 'blocked';
  if (approval === undefined || (started !== undefined && approval.status !== 'open')) return 'running';
  if (approval.status === 'open') return 'waiting';
  return approval.status === 'approved' ? 'running' : approval.status;
}

const findArgs = ({ first, started, approval, blocked, progress }: CallRecord): EventEnvelope =>
  started ?? approval ?? blocked ?? progress ?? first;

/** Shows a call beside the text that announces it. */
export function toToolCall(call: CallRecord): ViewToolCall {
  const { data } = findArgs(call);
  const args = data['args'];
  return {
    id: call.id,
    name: getText(data, 'tool') ?? '',
    ...(args !== undefined && { args }),
    args_summary: getText(data, 'args_summary') ?? '',
  };
}

/** Shows a call as a message. */
export function toToolMessage(call: CallRecord, findResolution: FindResolution): ToolViewMessage {
  const { first, approval: request, blocked, progress, completed } = call;
  const { name, args, args_summary } = toToolCall(call);
  const approval = request && toApproval(request, findResolution);
  const tool_status = getStatus(call, approval);
  const result = completed && getText(completed.data, 'result_summary');
  const error = completed === undefined ? blocked && getText(blocked.data, 'reason') : getText(completed.data, 'error');
  const isOver = completed !== undefined || blocked !== undefined;
  return omitUndefined({
    id: `${first.execution_id}/${getNumber(first.data, 'step_number') ?? 0}/${call.id}`,
    role: 'tool' as const,
    text: describeCall(name, tool_status),
    timestamp: first.timestamp,
    agent_id: first.agent_id,
    parent_agent_id: first.parent_agent_id,
    ...readNesting(first),
    participant: first.participant,
    step_number: getNumber(first.data, 'step_number'),
    provisional: call.isStored ? undefined : (true as const),
    tool_call_id: call.id,
    tool_name: name,
    tool_status,
    tool_args_summary: args_summary,
    tool_args: args,
    // A call that failed has an error in place of a result.
    tool_result: error === undefined ? result : undefined,
    tool_error: error,
    tool_duration_ms: completed && getNumber(completed.data, 'duration_ms'),
    tool_progress: isOver ? undefined : progress?.data['progress'],
    approval,
  });
}
