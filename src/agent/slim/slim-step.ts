import type { Failure } from '../../errors/index.ts';
import { ErrorType } from '../../errors/index.ts';
import type { ReadValue } from '../../lib/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import type { PendingStep, StepResult, Wait } from '../../step-by-step/index.ts';
import { Interruption } from '../../step-by-step/index.ts';
import type { ToolUseStep } from '../../tool-use/index.ts';
import { StepType } from '../../tool-use/index.ts';
import type { ToolExecution } from '../../tools/index.ts';
import type { AgentState } from '../agent-state.ts';
import {
  amount,
  array,
  boolean,
  createReader,
  nullable,
  number,
  object,
  oneOf,
  optional,
  optionalString,
  string,
  time,
} from './field-readers.ts';
import type { SlimEvaluation } from './slim-continuation.ts';
import { evaluations, writeTrace } from './slim-continuation.ts';
import type { SlimArgs, SlimMessage } from './slim-message.ts';
import { args, readMessage, resultLeftOut, writeCallArgs, writeMessage, writeOutput } from './slim-message.ts';
import type { SlimUsage } from './slim-usage.ts';
import { readUsage, writeUsage } from './slim-usage.ts';
import type { SlimWriter } from './slim-writer.ts';

export interface SlimFailure {
  readonly type: ErrorType;
  readonly code: string;
  /** Left out if it is about a call whose arguments or results are. */
  readonly message?: string;
  readonly tool_name?: string;
}

const readFailure = createReader<SlimFailure>({ type: oneOf(ErrorType), code: string, message: optionalString, tool_name: optionalString });

/** A call of a step. Its arguments and its result are here if the step is open; else they are in the messages. */
export interface SlimStepCall extends SlimArgs {
  readonly id: string;
  readonly name: string;
  /** Absent until the call has ended. */
  readonly status?: ToolExecution['status'];
  /** The result of a call that has ended. */
  readonly content?: string;
  /** Type of the wait of this call, open or already answered. */
  readonly wait?: Wait['type'];
}

const readStepCall = createReader<SlimStepCall>({
  id: string,
  name: string,
  status: optional(oneOf(['succeeded', 'failed', 'rejected', 'cancelled', 'unknown'])),
  content: optionalString,
  wait: optional(oneOf(['approval', 'client-tool', 'unknown-call'])),
  ...args,
});

export interface SlimStep {
  /** Counts from 1 in the execution. */
  readonly step_number: number;
  readonly type: StepType;
  readonly has_tool_calls: boolean;
  readonly finish_reason: string | null;
  readonly interrupted?: Interruption;
  readonly model?: string;
  readonly errors: readonly SlimFailure[];
  readonly usage: SlimUsage;
  readonly tool_calls: readonly SlimStepCall[];
  /** Null for a step that is being judged. */
  readonly started_at: string | null;
  /** Null for a step that has not ended. */
  readonly ended_at: string | null;
  /** Time at work and in backoff, so far; null for a step that is being judged. Waiting for people does not count. */
  readonly duration_ms: number | null;
  /** The assistant's words in a step whose messages are not in the conversation yet. */
  readonly text?: string;
  /** The messages of a step that is open: they are not in the conversation yet. */
  readonly messages?: readonly SlimMessage[];
  readonly evaluations?: readonly SlimEvaluation[];
}

/** Number and kind of a step. */
export type SlimStepSummary = Pick<SlimStep, 'step_number' | 'type'>;

export const readStepSummary: ReadValue<SlimStepSummary> = createReader<SlimStepSummary>({ step_number: number, type: oneOf(StepType) });

export const readStep: ReadValue<SlimStep> = createReader<SlimStep>({
  step_number: number,
  type: oneOf(StepType),
  has_tool_calls: boolean,
  finish_reason: nullable(string),
  interrupted: optional(oneOf(Interruption)),
  model: optionalString,
  errors: array(readFailure),
  usage: object(readUsage),
  tool_calls: array(readStepCall),
  started_at: nullable(time),
  ended_at: nullable(time),
  duration_ms: nullable(amount),
  text: optionalString,
  messages: optional(array(readMessage)),
  evaluations,
});

export const toIso = (time: number): string => new Date(time).toISOString();

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

function writeOpenCalls({ toolCalls, executions }: ToolUseStep, waits: readonly Wait[], writer: SlimWriter): readonly SlimStepCall[] {
  return toolCalls.map((call) => {
    const execution = executions.find(({ toolCallId }) => toolCallId === call.id);
    const wait = waits.find(({ id }) => id === call.id)?.type;
    return {
      id: writer.writeName(call.id),
      name: writer.writeName(call.name),
      ...writeCallArgs(call, writer),
      ...(execution !== undefined && {
        status: execution.status,
        content: writer.config.includeToolResults ? writeOutput(execution.output, writer) : resultLeftOut,
      }),
      ...(wait !== undefined && { wait }),
    };
  });
}

// The messages of an open step are not in the conversation yet.
function writeOpenStep(step: ToolUseStep, fields: StepFields, writer: SlimWriter): SlimStep {
  const spoken = step.outputMessages.findLast((message) => message.isAssistant() && message.text !== '');
  return { ...writeStep(step, fields, writer), ...(spoken !== undefined && { text: writeMessage(spoken, writer).content }) };
}

function writePendingStep({ number, partial, waits, ...pending }: PendingStep<ToolUseStep>, writer: SlimWriter): SlimStep {
  const { startedAt, activeMs, waitedMs } = pending;
  const times = { started_at: toIso(startedAt), ended_at: null, duration_ms: activeMs + waitedMs };
  return {
    ...writeOpenStep(partial, { step_number: number, ...times }, writer),
    tool_calls: writeOpenCalls(partial, waits, writer),
    messages: partial.outputMessages.map((message) => writeMessage(message, writer)),
  };
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
  if (pendingStep !== undefined) return writePendingStep(pendingStep, writer);
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
