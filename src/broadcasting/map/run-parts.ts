// Envelopes of the events that the loop emits.
import type { Json, JsonObject } from '../../lib/index.ts';
import { omitUndefined, present } from '../../lib/index.ts';
import type { EnvelopePart } from '../envelope.ts';
import { toNextAction } from './advice.ts';
import { toSnakeCounts } from './counts.ts';
import type { EventView } from './event-view.ts';
import { toEndSentence, toStatusSentence } from './sentences.ts';
import { toVoid } from './stream-parts.ts';
import type { PartMapper } from './part-mapper.ts';

/** Something that the run waits for. */
function toWait(wait: EventView): JsonObject {
  const times = ['since', 'nextTryAt', 'giveUpAt'].map((key) => wait.optionalNumber(key));
  const [since, nextTryAt, giveUpAt] = times.map((time) => (time === undefined ? undefined : new Date(time).toISOString()));
  return present({
    wait_id: wait.name('id'),
    type: wait.name('type'),
    tool: wait.optionalName('toolName'),
    limit: wait.optionalName('limit'),
    participant: wait.optionalName('participant'),
    agent: wait.optionalName('agent'),
    prompt: wait.sentence('prompt'),
    reason: wait.sentence('reason'),
    problem: wait.sentence('problem'),
    since,
    next_try_at: nextTryAt,
    give_up_at: giveUpAt,
  });
}

function toStarted(view: EventView): readonly EnvelopePart[] {
  const isResumed = view.flag('resumed');
  const data = present({ status: 'in_progress', sentence: toStatusSentence(view), step_count: isResumed ? undefined : 0 });
  return [{ event: 'agent.status', data }];
}

/** A person's refusal to raise the limit that the run waited at. */
function toRefusal(view: EventView): JsonObject | undefined {
  const refused = view.inner('grantRefused');
  const reason = refused.sentence('reason');
  return reason === undefined ? undefined : present({ reason, by: refused.optionalName('by') });
}

/** The last failure of a run that failed, in its own words. */
const toLastFailure = (view: EventView): string | undefined =>
  view.name('status') === 'failed' ? view.list('errors').at(-1)?.sentence('message') : undefined;

function toEnded(view: EventView): readonly EnvelopePart[] {
  const waits = view.list('waitingFor').map(toWait);
  const data = present({
    status: view.name('status'),
    stop_reason: view.optionalName('stopReason'),
    resolved_by: view.optionalName('resolvedBy'),
    context: view.object('context'),
    sentence: toEndSentence(view),
    failure: toLastFailure(view),
    next: toNextAction(view),
    grant_refused: toRefusal(view),
    step_count: view.number('stepCount'),
    waiting_for: waits.length === 0 ? undefined : waits,
  });
  return [{ event: 'agent.status', data }];
}

/** The words of an agent or a participant. */
function toSpoken(view: EventView): readonly EnvelopePart[] {
  const messageId = view.optionalName('messageId');
  const text = view.text('text');
  if (messageId === undefined || text === '') return [];
  const speaker = view.optionalName('participant') ?? view.optionalName('agentName') ?? view.name('agentId');
  const data = {
    message_id: messageId,
    role: 'assistant',
    text,
    by: { id: speaker, kind: 'agent' },
    step_number: view.number('stepNumber'),
  };
  return [{ event: 'agent.message', data }];
}

function toContinuation(view: EventView): JsonObject | undefined {
  const shouldContinue = view.fields['shouldContinue'];
  if (typeof shouldContinue !== 'boolean') return undefined;
  return { should_continue: shouldContinue, stop_reason: view.optionalName('stopReason') ?? null, resolved_by: view.name('resolvedBy') };
}

const toStepStarted: PartMapper = (view) => {
  const isResumed = view.flag('resumed');
  const attempt = view.optionalNumber('attempt');
  const data = present({
    step_number: view.number('stepNumber'),
    tools: view.names('tools'),
    participant: view.optionalName('participant'),
    resumed: isResumed ? true : undefined,
  });
  const started = { event: 'agent.step.started', data };
  // What an earlier process sent of this step is void.
  const isAgain = isResumed || attempt !== undefined;
  const voided = attempt === undefined ? undefined : attempt - 1;
  return isAgain ? [toVoid({ step: view.number('stepNumber'), scope: 'attempt', attempt: voided }), started] : [started];
};

const toStepCompleted: PartMapper = (view, { attempt, answer }) => {
  const spoken = toSpoken(view);
  const errorCount = view.number('errorCount');
  const data = present({
    step_number: view.number('stepNumber'),
    usage: toSnakeCounts(view.inner('usage').fields),
    duration_ms: view.number('durationMs'),
    finish_reason: view.optionalName('finishReason'),
    interrupted: view.optionalName('interrupted'),
    has_tool_calls: view.flag('hasToolCalls'),
    error_count: errorCount,
    continuation: toContinuation(view),
  });
  // Text that was streamed of an answer that failed belongs to no message.
  const isVoid = errorCount > 0 && spoken.length === 0 && !view.flag('hasToolCalls');
  return [
    ...spoken,
    { event: 'agent.step.completed', data },
    ...(isVoid ? [toVoid({ step: view.number('stepNumber'), scope: 'text', attempt, answer })] : []),
  ];
};

function toEvaluation(evaluation: EventView): JsonObject {
  return present({
    criterion: evaluation.name('criterion'),
    decision: evaluation.name('decision'),
    reason: evaluation.sentence('reason') ?? '',
    stop_reason: evaluation.optionalName('stopReason'),
    context: evaluation.object('context') ?? {},
  });
}

function toTrace(view: EventView): readonly EnvelopePart[] {
  if (!view.settings.includesTrace) return [];
  const evaluations: readonly Json[] = view.inner('outcome').list('evaluations').map(toEvaluation);
  const continuation = toContinuation(view) ?? {};
  return [{ event: 'agent.continuation', data: { step_number: view.number('stepNumber'), ...continuation, evaluations } }];
}

function toRetry(view: EventView): readonly EnvelopePart[] {
  const data = present({
    step_number: view.number('stepNumber'),
    delay_ms: view.number('delayMs'),
    attempt: view.number('failures'),
    max_attempts: view.optionalNumber('maxRetries'),
    error_type: view.name('errorType'),
    sentence: toStatusSentence(view),
  });
  return [{ event: 'agent.retry', data }];
}

/** A failure, without its stack or its cause. */
const toFailure = (failure: EventView): EnvelopePart => ({
  event: 'agent.error',
  data: omitUndefined({
    code: failure.name('code') || 'error',
    error_type: failure.optionalName('type'),
    sentence: failure.sentence('message') ?? 'The run failed.',
    tool: failure.optionalName('toolName'),
    tool_call_id: failure.optionalName('toolCallId'),
  }),
});

function toFailed(view: EventView): readonly EnvelopePart[] {
  const failures = view.list('errors').map(toFailure);
  if (failures.length > 0) return failures;
  return [{ event: 'agent.error', data: { code: view.optionalName('stopReason') ?? 'error', sentence: toEndSentence(view) } }];
}

/** Mappers of the events of the loop, by type. */
export const runMappers: Readonly<Record<string, PartMapper>> = {
  AgentExecutionStarted: toStarted,
  AgentStepStarted: toStepStarted,
  ContinuationEvaluated: toTrace,
  // Only a step that waits has words already.
  AgentStateUpdated: (view) => (view.fields['messageId'] === undefined ? undefined : toSpoken(view)),
  AgentStepCompleted: toStepCompleted,
  RetryScheduled: toRetry,
  AgentFailed: toFailed,
  AgentFinished: toEnded,
  CrashLoopDetected: (view) => [{ event: 'agent.error', data: { code: 'crash-loop', sentence: toStatusSentence(view) } }],
};
