import type { ContinuationOutcome } from '../../continuation/index.ts';
import type { Failure } from '../../errors/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import type { Usage } from '../../messages/index.ts';
import type { StepResult, Wait } from '../../step-by-step/index.ts';
import type { ToolUseStep } from '../../tool-use/index.ts';
import type { AgentState } from '../agent-state.ts';
import type { SlimContinuation, SlimFailure, SlimStep, SlimUsage, SlimWait } from './slim-payload.ts';
import type { SlimWriter } from './slim-writer.ts';
import { writeArgs, writeMessage } from './write-message.ts';

export const toIso = (time: number): string => new Date(time).toISOString();

export function writeUsage({ input, output, total, cacheRead, cacheWrite, reasoning, unknownCalls }: Usage): SlimUsage {
  return omitUndefined({ input, output, total, cache_read: cacheRead, cache_write: cacheWrite, reasoning, unknown_calls: unknownCalls });
}

// The message of a failed call may quote its arguments or its result.
function writeFailure({ type, code, message, toolName, toolCallId }: Failure, writer: SlimWriter): SlimFailure {
  const { includeToolArgs, includeToolResults } = writer.config;
  const isAboutCall = toolName !== undefined || toolCallId !== undefined || code === 'invalid-decision';
  return {
    type,
    code: writer.writeName(code),
    ...((!isAboutCall || (includeToolArgs && includeToolResults)) && { message: writer.writeText(message) }),
    ...(toolName !== undefined && { tool_name: writer.writeName(toolName) }),
  };
}

// Without the context of the evaluations: that may hold the arguments of calls, and the reason has the numbers.
function writeTrace({ evaluations }: ContinuationOutcome, writer: SlimWriter): Pick<SlimStep, 'evaluations'> {
  if (!writer.config.includeContinuationTrace) return {};
  return {
    evaluations: evaluations.map(({ criterion, decision, reason, stopReason, limit }) =>
      omitUndefined({
        criterion: writer.writeName(criterion),
        decision,
        reason: writer.writeText(reason),
        stop_reason: stopReason,
        limit,
      }),
    ),
  };
}

export function writeContinuation(outcome: ContinuationOutcome, writer: SlimWriter): SlimContinuation {
  const { shouldContinue, stopReason, resolvedBy, decision, evaluations } = outcome;
  const deciding = evaluations.find((evaluation) => evaluation.criterion === resolvedBy && evaluation.decision === decision);
  return {
    should_continue: shouldContinue,
    stop_reason: shouldContinue ? null : stopReason,
    resolved_by: writer.writeName(resolvedBy),
    decision,
    ...(deciding !== undefined && { reason: writer.writeText(deciding.reason) }),
    ...writeTrace(outcome, writer),
  };
}

export function writeWait(wait: Wait, writer: SlimWriter): SlimWait {
  return {
    type: wait.type,
    id: writer.writeName(wait.id),
    ...('toolName' in wait && { tool_name: writer.writeName(wait.toolName), ...writeArgs(wait.args, writer) }),
    ...('prompt' in wait && { prompt: writer.writeText(wait.prompt) }),
    ...('limit' in wait && { limit: wait.limit }),
    ...(wait.problem !== undefined && { problem: writer.writeText(wait.problem) }),
    ...(wait.agent !== undefined && { agent: writer.writeName(wait.agent) }),
  };
}

type StepFields = Pick<SlimStep, 'step_number' | 'started_at' | 'ended_at' | 'duration_ms' | 'evaluations'>;

function writeStep(step: ToolUseStep, fields: StepFields, writer: SlimWriter): SlimStep {
  const statuses = new Map(step.executions.map(({ toolCallId, status }) => [toolCallId, status]));
  return {
    type: step.stepType,
    has_tool_calls: step.hasToolCalls === true,
    finish_reason: step.finishReason === undefined ? null : writer.writeName(step.finishReason),
    ...(step.interrupted !== undefined && { interrupted: step.interrupted }),
    ...(step.model !== undefined && { model: writer.writeName(step.model) }),
    errors: step.errors.map((failure) => writeFailure(failure, writer)),
    usage: writeUsage(step.usage),
    tool_calls: step.toolCalls.map(({ id, name }) =>
      omitUndefined({ id: writer.writeName(id), name: writer.writeName(name), status: statuses.get(id) }),
    ),
    ...fields,
  };
}

// The messages of an open step are not in the conversation yet.
function writeOpenStep(step: ToolUseStep, fields: StepFields, writer: SlimWriter): SlimStep {
  const spoken = step.outputMessages.findLast((message) => message.isAssistant() && message.text !== '');
  return { ...writeStep(step, fields, writer), ...(spoken !== undefined && { text: writeMessage(spoken, writer).content }) };
}

function writeResult({ number, step, outcome, timing }: StepResult<ToolUseStep>, writer: SlimWriter): SlimStep {
  const { startedAt, endedAt, activeMs, waitedMs } = timing;
  const times = { started_at: toIso(startedAt), ended_at: toIso(endedAt), duration_ms: activeMs + waitedMs };
  return writeStep(step, { step_number: number, ...times, ...writeTrace(outcome, writer) }, writer);
}

// The step that is being judged has been taken, but nothing has been decided about it.
function writeCandidate({ execution: { judgedStep, results } }: AgentState, writer: SlimWriter): SlimStep | undefined {
  const fields = { step_number: results.length + 1, started_at: null, ended_at: null, duration_ms: null };
  return judgedStep && writeOpenStep(judgedStep, fields, writer);
}

/** Writes the step that waits or is being judged, else the last one. */
export function writeCurrentStep(state: AgentState, writer: SlimWriter): SlimStep | null {
  const { pendingStep, results } = state.execution;
  if (pendingStep !== undefined) {
    const { number, partial, startedAt, activeMs, waitedMs } = pendingStep;
    const times = { started_at: toIso(startedAt), ended_at: null, duration_ms: activeMs + waitedMs };
    return writeOpenStep(partial, { step_number: number, ...times }, writer);
  }
  const { last } = results;
  return writeCandidate(state, writer) ?? (last === undefined ? null : writeResult(last, writer));
}

/** Writes the newest steps of the execution, oldest first. Does not read older ones. */
export function writeSteps(state: AgentState, writer: SlimWriter): readonly SlimStep[] {
  const { includeAllSteps, maxSteps } = writer.config;
  const { results } = state.execution;
  const candidate = writeCandidate(state, writer);
  const count = includeAllSteps ? state.stepCount : Math.min(maxSteps, state.stepCount);
  const steps: SlimStep[] = [];
  for (let index = state.stepCount - count; index < results.length; index += 1) {
    const result = results.at(index);
    if (result !== undefined) steps.push(writeResult(result, writer));
  }
  return candidate === undefined || count === 0 ? steps : [...steps, candidate];
}
