// States from lossy payloads.
// Y1. The state continues with what is in the payload, and `explain()` says what is not.
// Y2. Answers for which something is missing are refused; everything else works.
import { AppendOnlyList, DamagedDataError, listAll, omitUndefined, pluralize } from '../../lib/index.ts';
import { MessageStore, SectionName, Usage } from '../../messages/index.ts';
import type { Execution, StateGaps } from '../../step-by-step/index.ts';
import { StateInfo } from '../../step-by-step/index.ts';
import type { ToolUseStep } from '../../tool-use/index.ts';
import { AgentState } from '../agent-state.ts';
import { restoreMessage } from './restore-message.ts';
import type { RestoredPendingStep } from './restore-pending-step.ts';
import { restoreCrashLoop, restorePendingStep } from './restore-pending-step.ts';
import { restoreOutcome, restoreResults } from './restore-steps.ts';
import type { LossySlimPayload } from './slim-payload.ts';
import { toStoredUsage } from './slim-usage.ts';

function describeGaps({ omitted, execution }: LossySlimPayload, pending: RestoredPendingStep | undefined): string {
  const { messages, steps, metadata, cut, secrets } = omitted;
  const missing = [
    ...(messages > 0 ? [pluralize(messages, 'message')] : []),
    ...(steps > 0 ? [pluralize(steps, 'step')] : []),
    ...(metadata > 0 ? [pluralize(metadata, 'metadata field')] : []),
    ...(execution.number > 1 ? [pluralize(execution.number - 1, 'earlier execution')] : []),
  ];
  const lacksArgs = pending !== undefined && pending.callsWithoutArgs.length > 0;
  const notes = [
    ...(missing.length > 0 ? [`left out ${listAll(missing)}`] : []),
    ...(cut === true ? ['cut long texts'] : []),
    ...(secrets === true ? ['removed secrets'] : []),
    ...(lacksArgs ? [`left out the arguments to approve (${pending.callsWithoutArgs.join(', ')})`] : []),
  ];
  const list = notes.length === 0 ? 'left out the details of its steps' : listAll(notes);
  return `This state was read from a slim payload, which ${list}. It continues with what is left.`;
}

function getGaps(payload: LossySlimPayload, pending: RestoredPendingStep | undefined): StateGaps {
  const { callsWithoutArgs = [], lostWaits = [] } = pending ?? {};
  return {
    summary: describeGaps(payload, pending),
    ...(callsWithoutArgs.length > 0 && { callsWithoutArgs }),
    ...(lostWaits.length > 0 && { lostWaits }),
  };
}

type Results = Pick<Execution<ToolUseStep>, 'results' | 'startOutcome' | 'regranted'>;

function restoreHistory(payload: LossySlimPayload, executionId: string, store: MessageStore): Results {
  const { status } = payload;
  const newest = store.section(SectionName.Messages).toArray().at(-1);
  const results = restoreResults(payload, executionId, newest?.isAssistant() === true ? newest : undefined);
  const outcome = restoreOutcome(payload);
  return {
    results: AppendOnlyList.from(results),
    startOutcome: results.length === 0 ? outcome : undefined,
    // An execution that was ended at a limit and continues has been granted more.
    regranted: outcome?.isForbidden === true && status === 'in_progress' ? true : undefined,
  };
}

/** More steps than any execution takes: a result is made for each. */
const maxStepCount = 1_000_000;

function checkStepCount({ execution: { step_count }, steps, omitted }: LossySlimPayload): void {
  if (step_count === steps.length + omitted.steps && step_count <= maxStepCount) return;
  const expected = `${String(steps.length)} steps and ${String(omitted.steps)} that were left out`;
  throw new DamagedDataError('execution.step_count', `expected ${expected}, found ${String(step_count)}`);
}

/** Reads the state of a lossy payload. */
export function readLossyPayload(payload: LossySlimPayload): AgentState {
  checkStepCount(payload);
  const { execution, session_id } = payload;
  const { id = payload.status === 'pending' ? undefined : `${session_id}/${String(execution.number)}` } = execution;
  const executionId = id ?? '';
  const spoken = payload.messages.filter(({ queued }) => queued !== true).map(restoreMessage);
  const store = spoken.length === 0 ? MessageStore.empty() : MessageStore.fromMessages(spoken);
  const queued = payload.messages.filter(({ queued: isQueued }) => isQueued === true).map(restoreMessage);
  const pending = restorePendingStep(payload, executionId);
  const usage = Usage.fromJSON(toStoredUsage(payload.usage));
  const { cost } = execution;
  return new AgentState({
    info: StateInfo.fromJSON({
      id: session_id,
      startedAt: execution.started_at,
      updatedAt: execution.updated_at,
      cumulativeExecutionSeconds: execution.cumulative_seconds,
    }),
    agentId: payload.agent_id,
    parentAgentId: payload.parent_agent_id ?? undefined,
    store: pending === undefined ? store.append(SectionName.Messages, ...queued) : store,
    metadata: payload.metadata ?? {},
    execution: {
      id,
      number: execution.number,
      activeMs: execution.active_ms,
      waitedMs: 0,
      usage: pending === undefined ? usage : Usage.minus(usage, pending.pendingStep.partial.usage),
      cost: cost && omitUndefined({ usd: cost.usd, unknownCalls: cost.unknown_calls }),
      grants: execution.grants,
      failedSteps: payload.steps.filter(({ errors }) => errors.length > 0).length,
      ...restoreHistory(payload, executionId, store),
      pendingStep: pending?.pendingStep,
      crashLoop: restoreCrashLoop(payload),
      queued: pending === undefined || queued.length === 0 ? undefined : queued,
    },
    past: AppendOnlyList.empty(),
    lastSeq: payload.last_seq ?? 0,
    gaps: getGaps(payload, pending),
  });
}
