// Stores the fields that a step of tool use has besides the common ones, and nothing twice: what the messages and the failures of the
// step contain is read from there.
import type { Failure } from '../errors/index.ts';
import type { Json, JsonObject, ObjectReader } from '../lib/index.ts';
import { DamagedDataError, jsonEquals, omitUndefined, readJson, readObject, readString } from '../lib/index.ts';
import { findPendingToolCalls } from '../inference/index.ts';
import type { Message, ToolCall, ToolOutput } from '../messages/index.ts';
import { readToolOutput } from '../messages/index.ts';
import type { Step, StepFieldsCodec } from '../step-by-step/index.ts';
import { readFailure } from '../step-by-step/index.ts';
import type { ToolExecution, ToolExecutionStatus } from '../tools/index.ts';
import { readObservations } from './finish-step.ts';
import { parseAnswer } from './output.ts';
import type { CallAnswer, FailedModel, NestedMemo, ToolUseStep } from './tool-use-step.ts';
import { StepType } from './tool-use-step.ts';

type Draft<Fields> = { -readonly [Key in keyof Fields]: Fields[Key] };

const stepTypes = Object.values(StepType);

const statuses: readonly ToolExecutionStatus[] = ['succeeded', 'failed', 'rejected', 'cancelled', 'unknown'];

/** Status that is not written. */
const usualStatus: ToolExecutionStatus = 'succeeded';

function getCalls(messages: readonly Message[]): readonly ToolCall[] {
  const calls: ToolCall[] = [];
  for (const message of messages) if (message.isAssistant()) for (const call of findPendingToolCalls(message)) calls.push(call);
  return calls;
}

function getOutputs(messages: readonly Message[]): ReadonlyMap<string, ToolOutput> {
  const outputs = new Map<string, ToolOutput>();
  for (const message of messages) {
    if (!message.isTool()) continue;
    for (const part of message.parts) if (part.type === 'tool-result') outputs.set(part.toolCallId, part.output);
  }
  return outputs;
}

function parseJson(text: string): Json | undefined {
  const parsed = parseAnswer(text);
  return parsed === undefined ? undefined : readJson(parsed, '');
}

/** The output behind words that a model observed; undefined if they do not hold all of it. */
function toObservedOutput(words: string | undefined, as: string | undefined): ToolOutput | undefined {
  if (words === undefined) return undefined;
  if (as === 'text') return { type: 'text', value: words };
  const value = as === 'json' ? parseJson(words) : undefined;
  return value === undefined ? undefined : { type: 'json', value };
}

/** The final answer that a step's words say. */
const parseSaidOutput = (messages: readonly Message[]): Json | undefined =>
  parseJson(messages.findLast((message) => message.isAssistant())?.text ?? '');

/** The value that an output shows as it is; undefined if it shows something else. */
const getShownValue = (output: ToolOutput): Json | undefined =>
  output.type === 'json' || output.type === 'text' ? output.value : undefined;

/** Data of the step that a stored execution does not repeat. */
interface Known {
  readonly calls: readonly ToolCall[];
  readonly outputs: ReadonlyMap<string, ToolOutput>;
  readonly observed: ReadonlyMap<string, string>;
  readonly failures: ReadonlyMap<string, Failure>;
}

const nothingObserved: ReadonlyMap<string, string> = new Map();
const noFailures: ReadonlyMap<string, Failure> = new Map();

/** Finds a call by its id; of several, the last. Most steps have one or two calls, so that an index would cost more. */
const findCall = (calls: readonly ToolCall[], id: string): ToolCall | undefined => calls.findLast((call) => call.id === id);

function collectKnown({ outputMessages, errors }: Step, calls: readonly ToolCall[]): Known {
  const hasObservations = outputMessages.some(({ metadata }) => metadata['purpose'] !== undefined);
  return {
    calls,
    outputs: getOutputs(outputMessages),
    observed: hasObservations ? readObservations(outputMessages) : nothingObserved,
    failures: errors.length === 0 ? noFailures : collectFailures(errors),
  };
}

const collectFailures = (errors: readonly Failure[]): ReadonlyMap<string, Failure> =>
  new Map(errors.flatMap((failure) => (failure.toolCallId === undefined ? [] : [[failure.toolCallId, failure] as const])));

/** Writes an execution, without the fields that the step's messages and failures contain. */
function encodeExecution(execution: ToolExecution, { calls, outputs, observed, failures }: Known, place: ToolCall | undefined): JsonObject {
  const { toolCallId: id, toolName, args, output, value, failure, status, startedAt, durationMs } = execution;
  const call = findCall(calls, id);
  const isObserved = observed.size > 0 && jsonEquals(output, toObservedOutput(observed.get(id), output.type));
  const written: Record<string, unknown> = {};
  if (id !== place?.id) written['id'] = id;
  if (status !== usualStatus) written['status'] = status;
  written['startedAt'] = startedAt;
  written['durationMs'] = durationMs;
  if (toolName !== call?.name) written['toolName'] = toolName;
  if (!jsonEquals(args, call?.args)) written['args'] = args;
  if (isObserved) written['observedAs'] = output.type;
  else if (!jsonEquals(output, outputs.get(id))) written['output'] = output;
  if (value !== undefined && !jsonEquals(value, getShownValue(output))) written['value'] = value;
  if (failure !== undefined && !jsonEquals(failure, failures.get(id))) written['failure'] = failure;
  // Holds: an execution is made of JSON values only.
  return written as JsonObject;
}

function requireFound<Value>(value: Value | undefined, path: string, what: string): Value {
  if (value !== undefined) return value;
  throw new DamagedDataError(path, `expected ${what}, here or in the step's messages`);
}

function decodeExecution(data: ObjectReader, { calls, outputs, observed, failures }: Known, place: ToolCall | undefined): ToolExecution {
  const { path } = data;
  const id = data.optionalString('id') ?? requireFound(place?.id, path, 'an id');
  const call = findCall(calls, id);
  const status = data.optionalOneOf('status', statuses) ?? usualStatus;
  const seen = toObservedOutput(observed.get(id), data.optionalString('observedAs'));
  const output = requireFound(data.optionalValue('output', readToolOutput) ?? seen ?? outputs.get(id), path, 'an output');
  const base = {
    toolCallId: id,
    toolName: requireFound(data.optionalString('toolName') ?? call?.name, path, 'a toolName'),
    // Null is a value.
    args: data.has('args') ? data.json('args') : requireFound(call?.args, path, 'args'),
    startedAt: data.time('startedAt'),
    durationMs: data.number('durationMs'),
  };
  if (status === 'succeeded') {
    const value = data.has('value') ? data.json('value') : requireFound(getShownValue(output), path, 'a value');
    return { ...base, status, value, output };
  }
  if (status !== 'failed') return { ...base, status, output };
  const failure = requireFound(data.optionalValue('failure', readFailure) ?? failures.get(id), path, 'a failure');
  return { ...base, status, failure, output };
}

function readToolCall(input: unknown, path: string): ToolCall {
  const data = readObject(input, path);
  return omitUndefined({
    id: data.string('id'),
    name: data.string('name'),
    args: data.json('args'),
    rawArgs: data.optionalString('rawArgs'),
    providerMetadata: data.optionalJsonObject('providerMetadata'),
  });
}

function readCallAnswer(input: unknown, path: string): CallAnswer {
  const data = readObject(input, path);
  const type = data.oneOf('type', ['approved', 'edited', 'rejected', 'answered', 'closed']);
  return omitUndefined({
    id: data.string('id'),
    type,
    by: data.optionalString('by'),
    toolName: data.optionalString('toolName'),
    reason: data.optionalString('reason'),
  });
}

function readFailedModel(input: unknown, path: string): FailedModel {
  const data = readObject(input, path);
  return { model: data.string('model'), problem: data.string('problem') };
}

function readNested(input: unknown, path: string): Readonly<Record<string, NestedMemo>> {
  const data = readObject(input, path);
  const entries = Object.keys(data.rest([])).map((id) => {
    const memo = data.object(id);
    const waits = memo.array('waits', readString);
    return [id, { round: memo.number('round'), args: memo.json('args'), waits, memo: memo.json('memo') }] as const;
  });
  return Object.fromEntries(entries);
}

const encodeOutput = (output: Json, messages: readonly Message[]): JsonObject =>
  jsonEquals(output, parseSaidOutput(messages)) ? { saidOutput: true } : { output };

function encodeExecutions(step: ToolUseStep): readonly JsonObject[] {
  const known = collectKnown(step, step.toolCalls);
  return step.executions.map((execution, index) => encodeExecution(execution, known, step.toolCalls[index]));
}

function decodeExecutions(step: Step, fields: ObjectReader, toolCalls: readonly ToolCall[]): readonly ToolExecution[] {
  const readers = fields.optionalArray('executions', readObject) ?? [];
  if (readers.length === 0) return [];
  const known = collectKnown(step, toolCalls);
  return readers.map((reader, index) => decodeExecution(reader, known, toolCalls[index]));
}

const readSaidOutput = (step: Step, fields: ObjectReader): Json | undefined =>
  fields.optionalBoolean('saidOutput') === true ? parseSaidOutput(step.outputMessages) : fields.optionalJson('output');

/** Stores the steps of tool use. */
export const stepCodec: StepFieldsCodec<ToolUseStep> = {
  encode: (step) => {
    const { toolCalls, answers, nested, model, fallbacks, output } = step;
    const fields: Record<string, unknown> = { stepType: step.stepType };
    if (!jsonEquals(toolCalls, getCalls(step.outputMessages))) fields['toolCalls'] = toolCalls;
    if (step.executions.length > 0) fields['executions'] = encodeExecutions(step);
    if (answers !== undefined) fields['answers'] = answers;
    if (nested !== undefined) fields['nested'] = nested;
    if (model !== undefined) fields['model'] = model;
    if (fallbacks !== undefined) fields['fallbacks'] = fallbacks.map((failed) => ({ model: failed.model, problem: failed.problem }));
    if (output !== undefined) Object.assign(fields, encodeOutput(output, step.outputMessages));
    // Holds: a step is made of JSON values only.
    return fields as JsonObject;
  },
  decode: (step, fields: ObjectReader) => {
    const toolCalls = fields.optionalArray('toolCalls', readToolCall) ?? getCalls(step.outputMessages);
    const decoded: Draft<ToolUseStep> = {
      ...step,
      stepType: fields.oneOf('stepType', stepTypes),
      toolCalls,
      executions: decodeExecutions(step, fields, toolCalls),
    };
    // Most steps have none of these: they are absent then, not undefined.
    const answers = fields.optionalArray('answers', readCallAnswer);
    const nested = fields.optionalValue('nested', readNested);
    const model = fields.optionalString('model');
    const fallbacks = fields.optionalArray('fallbacks', readFailedModel);
    const output = readSaidOutput(step, fields);
    if (answers !== undefined) decoded.answers = answers;
    if (nested !== undefined) decoded.nested = nested;
    if (model !== undefined) decoded.model = model;
    if (fallbacks !== undefined) decoded.fallbacks = fallbacks;
    if (output !== undefined) decoded.output = output;
    return decoded;
  },
};
