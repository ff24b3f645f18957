// The record of a run inside a turn.
// I1. The calls of an unfinished turn are kept for the participant that repeats the turn.
import { AgentState } from '../agent/index.ts';
import type { IdSource, Json } from '../lib/index.ts';
import { omitUndefined } from '../lib/index.ts';
import type { Message, Part } from '../messages/index.ts';
import type { ToolUseStep } from '../tool-use/index.ts';
import { ToolUseState } from '../tool-use/index.ts';
import type { ChatStep, InnerRun, UnfinishedTurn } from './chat-step.ts';
import { ParticipantKind } from './participant-kind.ts';

/** The steps of a run, with the one that it could not end. */
function listSteps(end: ToolUseState): readonly ToolUseStep[] {
  return end.pendingStep === undefined ? end.steps : [...end.steps, end.pendingStep.partial];
}

/** Lists the calls of these steps with how they ended; undefined if there are none. */
function listCalls(steps: readonly ToolUseStep[]): InnerRun['calls'] {
  const calls = steps.flatMap(({ executions }) => executions.map(({ toolName: tool, status }) => ({ tool, status })));
  return calls.length > 0 ? calls : undefined;
}

/** Records a run inside a turn. */
export function toInnerRun(orchestrator: string, end: ToolUseState): InnerRun {
  const { agentId, status, stopReason, lastContinuationOutcome: outcome, stepCount } = end;
  return omitUndefined({ orchestrator, agentId, status, stepCount, stopReason, outcome, calls: listCalls(listSteps(end)) });
}

// Words that stand in the conversation are read there.
function withoutWords(message: Message, said: string): readonly Message[] {
  if (said === '' || !message.isAssistant() || message.text !== said) return [message];
  return message.toolCalls.length === 0 ? [] : [message.withParts(message.parts.filter(({ type }) => type !== 'text'))];
}

/** Returns the calls and results of these steps, without the words that were said; undefined if nothing was called. */
export function getUnfinished(steps: readonly ToolUseStep[], at: number, said = ''): UnfinishedTurn | undefined {
  const all: readonly Message[] = steps.flatMap(({ outputMessages }) => outputMessages);
  if (!all.some((message) => message.isTool())) return undefined;
  return { at, messages: all.flatMap((message) => withoutWords(message, said)) };
}

/** Returns the unfinished turn without the calls of these tools and their results. */
export function withoutCalls(unfinished: UnfinishedTurn | undefined, tools: readonly string[]): UnfinishedTurn | undefined {
  if (unfinished === undefined || tools.length === 0) return unfinished;
  const isKept = (part: Part): boolean =>
    part.type === 'tool-call' || part.type === 'tool-result' ? !tools.includes(part.toolName) : true;
  const messages = unfinished.messages.flatMap((message) => {
    const parts = message.parts.filter(isKept);
    return parts.length === 0 ? [] : [parts.length === message.parts.length ? message : message.withParts(parts)];
  });
  return messages.some((message) => message.isTool()) ? { at: unfinished.at, messages } : undefined;
}

/** Restores the run inside a turn that waits; undefined if there is none or it cannot be read: a turn must end anyway. */
function restoreInner(kind: ParticipantKind, stored: Json): ToolUseState | undefined {
  if (kind !== ParticipantKind.Agent && kind !== ParticipantKind.Llm) return undefined;
  try {
    return kind === ParticipantKind.Agent ? AgentState.fromJSON(stored) : ToolUseState.fromJSON(stored);
  } catch {
    return undefined;
  }
}

/** Closes a turn that waited and that nobody will resume. */
export function closeTurn<S extends ChatStep>(
  partial: S,
  { why, at, ids }: { readonly why: 'superseded' | 'interrupted'; readonly at: number; readonly ids: IdSource | undefined },
): S {
  const { memo } = partial;
  const step = { ...partial };
  Reflect.deleteProperty(step, 'memo');
  const inner = memo?.state === undefined ? undefined : restoreInner(memo.kind, memo.state);
  if (inner === undefined) return step;
  const { pendingStep } = inner;
  const closed = pendingStep === undefined ? inner.steps : [...inner.steps, inner.closePendingStep(pendingStep, why, ids)];
  const record =
    step.inner &&
    omitUndefined({ ...step.inner, status: 'stopped' as const, stepCount: closed.length, calls: listCalls(closed) ?? step.inner.calls });
  return { ...step, ...omitUndefined({ inner: record, unfinished: getUnfinished(closed, at) }) };
}
