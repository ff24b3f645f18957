import type { ContinuationEvaluation, ContinuationOutcome } from '../../continuation/index.ts';
import type { Failure } from '../../errors/index.ts';
import type { Usage } from '../../messages/index.ts';
import type { StepResult, Wait } from '../../step-by-step/index.ts';
import type { ToolUseStep } from '../../tool-use/index.ts';
import type { AgentState } from '../agent-state.ts';
import type { SlimInk } from './slim-ink.ts';
import type { SlimContinuation, SlimEvaluation, SlimFailure, SlimStep, SlimUsage, SlimWait } from './slim-payload.ts';
import { writeArgs, writeMessage } from './write-message.ts';

export const toIso = (time: number): string => new Date(time).toISOString();

export function writeUsage({ input, output, total, cacheRead, cacheWrite, reasoning, unknownCalls }: Usage): SlimUsage {
  return {
    input,
    output,
    total,
    ...(cacheRead !== undefined && { cache_read: cacheRead }),
    ...(cacheWrite !== undefined && { cache_write: cacheWrite }),
    ...(reasoning !== undefined && { reasoning }),
    ...(unknownCalls !== undefined && { unknown_calls: unknownCalls }),
  };
}

// What went wrong with a call may quote what went in or came out.
function writeFailure({ type, code, message, toolName, toolCallId }: Failure, ink: SlimInk): SlimFailure {
  const { includeToolArgs, includeToolResults } = ink.config;
  const isAboutCall = toolName !== undefined || toolCallId !== undefined || code === 'invalid-decision';
  const isShown = !isAboutCall || (includeToolArgs && includeToolResults);
  return {
    type,
    code: ink.name(code),
    ...(isShown && { message: ink.text(message) }),
    ...(toolName !== undefined && { tool_name: ink.name(toolName) }),
  };
}

// Without its context: that may hold the arguments of calls, and the reason tells the numbers.
function writeEvaluation({ criterion, decision, reason, stopReason, limit }: ContinuationEvaluation, ink: SlimInk): SlimEvaluation {
  return {
    criterion: ink.name(criterion),
    decision,
    reason: ink.text(reason),
    ...(stopReason !== undefined && { stop_reason: stopReason }),
    ...(limit !== undefined && { limit }),
  };
}

const writeTrace = ({ evaluations }: ContinuationOutcome, ink: SlimInk): { readonly evaluations?: readonly SlimEvaluation[] } =>
  ink.config.includeContinuationTrace ? { evaluations: evaluations.map((evaluation) => writeEvaluation(evaluation, ink)) } : {};

export function writeContinuation(outcome: ContinuationOutcome, ink: SlimInk): SlimContinuation {
  const { shouldContinue, stopReason, resolvedBy, decision, evaluations } = outcome;
  const said = evaluations.find((evaluation) => evaluation.criterion === resolvedBy && evaluation.decision === decision);
  return {
    should_continue: shouldContinue,
    stop_reason: shouldContinue ? null : stopReason,
    resolved_by: ink.name(resolvedBy),
    decision,
    ...(said !== undefined && { reason: ink.text(said.reason) }),
    ...writeTrace(outcome, ink),
  };
}

export function writeWait(wait: Wait, ink: SlimInk): SlimWait {
  return {
    type: wait.type,
    id: ink.name(wait.id),
    ...('toolName' in wait && { tool_name: ink.name(wait.toolName), ...writeArgs(wait.args, ink) }),
    ...('prompt' in wait && { prompt: ink.text(wait.prompt) }),
    ...('limit' in wait && { limit: wait.limit }),
    ...(wait.problem !== undefined && { problem: ink.text(wait.problem) }),
    ...(wait.agent !== undefined && { agent: ink.name(wait.agent) }),
  };
}

type Timing = Pick<SlimStep, 'started_at' | 'ended_at' | 'duration_ms'>;
const noTiming: Timing = { started_at: null, ended_at: null, duration_ms: null };

interface StepFacts {
  readonly number: number;
  readonly timing: Timing;
  readonly rest?: Pick<SlimStep, 'text' | 'evaluations'>;
}

function writeStep(step: ToolUseStep, { number, timing, rest = {} }: StepFacts, ink: SlimInk): SlimStep {
  const statuses = new Map(step.executions.map(({ toolCallId, status }) => [toolCallId, status]));
  return {
    step_number: number,
    type: step.stepType,
    has_tool_calls: step.hasToolCalls === true,
    finish_reason: step.finishReason === undefined ? null : ink.name(step.finishReason),
    ...(step.interrupted !== undefined && { interrupted: step.interrupted }),
    ...(step.model !== undefined && { model: ink.name(step.model) }),
    errors: step.errors.map((failure) => writeFailure(failure, ink)),
    usage: writeUsage(step.usage),
    tool_calls: step.toolCalls.map(({ id, name }) => {
      const status = statuses.get(id);
      return { id: ink.name(id), name: ink.name(name), ...(status !== undefined && { status }) };
    }),
    ...timing,
    ...rest,
  };
}

function writeResult({ number, step, outcome, timing }: StepResult<ToolUseStep>, ink: SlimInk): SlimStep {
  const duration = timing.activeMs + timing.waitedMs;
  const times: Timing = { started_at: toIso(timing.startedAt), ended_at: toIso(timing.endedAt), duration_ms: duration };
  return writeStep(step, { number, timing: times, rest: writeTrace(outcome, ink) }, ink);
}

function textOf({ outputMessages }: ToolUseStep, ink: SlimInk): { readonly text?: string } {
  const spoken = outputMessages.findLast((message) => message.isAssistant() && message.text !== '');
  return spoken === undefined ? {} : { text: writeMessage(spoken, ink).content };
}

// The step being judged: it has been taken, and nothing has been decided about it.
function writeCandidate({ execution }: AgentState, ink: SlimInk): SlimStep | undefined {
  const { judgedStep, results } = execution;
  if (judgedStep === undefined) return undefined;
  return writeStep(judgedStep, { number: results.length + 1, timing: noTiming, rest: textOf(judgedStep, ink) }, ink);
}

/** The step that waits or is being judged, else the last one. */
export function writeCurrentStep(state: AgentState, ink: SlimInk): SlimStep | null {
  const { pendingStep, results } = state.execution;
  if (pendingStep !== undefined) {
    const { number, partial, startedAt, activeMs, waitedMs } = pendingStep;
    const timing: Timing = { started_at: toIso(startedAt), ended_at: null, duration_ms: activeMs + waitedMs };
    return writeStep(partial, { number, timing, rest: textOf(partial, ink) }, ink);
  }
  const last = results.last;
  return writeCandidate(state, ink) ?? (last === undefined ? null : writeResult(last, ink));
}

/** The newest steps of the execution, oldest first. Older ones are not looked at. */
export function writeSteps(state: AgentState, ink: SlimInk): readonly SlimStep[] {
  const { includeAllSteps, maxSteps } = ink.config;
  const { results } = state.execution;
  const candidate = writeCandidate(state, ink);
  const count = includeAllSteps ? state.stepCount : Math.min(maxSteps, state.stepCount);
  const steps: SlimStep[] = [];
  for (let index = state.stepCount - count; index < results.length; index += 1) {
    const result = results.at(index);
    if (result !== undefined) steps.push(writeResult(result, ink));
  }
  return candidate === undefined || count === 0 ? steps : [...steps, candidate];
}
