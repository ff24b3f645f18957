import type { Message } from '../../messages/index.ts';
import type { Cost } from '../../step-by-step/index.ts';
import type { AgentState } from '../agent-state.ts';
import { messageWindow } from './message-window.ts';
import { writeContinuation } from './slim-continuation.ts';
import { slimKind } from './slim-kind.ts';
import type { SlimMessage } from './slim-message.ts';
import { writeMessage } from './slim-message.ts';
import type { LossySlimPayload, SlimExecution } from './slim-payload.ts';
import { slimSchema } from './slim-payload.ts';
import { toIso, writeCurrentStep, writeSteps } from './slim-step.ts';
import { writeUsage } from './slim-usage.ts';
import { writeWait } from './slim-wait.ts';
import type { SlimWriter } from './slim-writer.ts';

function writeMessages(
  { messages, execution: { queued = [] } }: AgentState,
  writer: SlimWriter,
): readonly [readonly SlimMessage[], number] {
  // Not concat: that would write behind the end of the state's own list, and its next message would copy it all.
  const all = {
    length: messages.length + queued.length,
    at: (index: number) => (index < messages.length ? messages.at(index) : queued[index - messages.length]),
  };
  const window = messageWindow(all, writer.config.maxMessages);
  const queuedIds = new Set(queued.map(({ id }) => id));
  const write = (message: Message): SlimMessage => ({
    ...writeMessage(message, writer),
    ...(queuedIds.has(message.id) && { queued: true }),
  });
  return [window.messages.map(write), window.dropped];
}

const writeCost = ({ usd, unknownCalls }: Cost): NonNullable<SlimExecution['cost']> => ({
  usd,
  ...(unknownCalls !== undefined && { unknown_calls: unknownCalls }),
});

function writeExecution({ execution, info, stepCount, cost }: AgentState, writer: SlimWriter): SlimExecution {
  return {
    ...(execution.id !== undefined && { id: writer.writeName(execution.id) }),
    number: execution.number,
    step_count: stepCount,
    started_at: toIso(info.startedAt),
    updated_at: toIso(info.updatedAt),
    cumulative_seconds: info.cumulativeExecutionSeconds,
    active_ms: execution.activeMs,
    ...(cost !== undefined && { cost: writeCost(cost) }),
    ...(execution.grants !== undefined && { grants: execution.grants }),
  };
}

/** Writes as much of a state as the config shows, without secrets. */
export function writeLossyPayload(state: AgentState, writer: SlimWriter): LossySlimPayload {
  const outcome = state.lastContinuationOutcome;
  const [messages, dropped] = writeMessages(state, writer);
  const steps = writeSteps(state, writer);
  const noted = writer.config.includeMetadata ? writer.writeFields(state.metadata) : undefined;
  const payload = {
    kind: slimKind,
    schema: slimSchema,
    agent_id: writer.writeName(state.agentId),
    parent_agent_id: state.parentAgentId === undefined ? null : writer.writeName(state.parentAgentId),
    session_id: writer.writeName(state.id),
    status: state.status,
    execution: writeExecution(state, writer),
    usage: writeUsage(state.usage),
    messages,
    current_step: writeCurrentStep(state, writer),
    steps,
    waiting_for: state.waitingFor.map((wait) => writeWait(wait, state, writer)),
    last_continuation: outcome === undefined ? null : writeContinuation(outcome, writer),
    metadata: noted === undefined ? null : noted.fields,
    ...(state.data.lastSeq !== 0 && { last_seq: state.data.lastSeq }),
  } as const;
  // After everything else was written: only then is it known what was cut.
  const omitted = {
    messages: dropped,
    steps: state.stepCount - steps.length,
    metadata: noted?.dropped ?? Object.keys(state.metadata).length,
    ...(writer.hasCut && { cut: true }),
    ...(writer.hasRedacted && { secrets: true }),
  };
  return { ...payload, omitted, resumable: 'lossy' };
}
