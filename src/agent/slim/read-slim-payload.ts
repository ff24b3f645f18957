import { ContinuationDecision, LimitKind, StopReason } from '../../continuation/index.ts';
import { ErrorType } from '../../errors/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { DamagedDataError, frozenCopy, readJsonObject, readObject } from '../../lib/index.ts';
import { messageRoles } from '../../messages/index.ts';
import { checkHeading } from '../../serialization/index.ts';
import { ExecutionStatus, Interruption } from '../../step-by-step/index.ts';
import { StepType } from '../../tool-use/index.ts';
import {
  array,
  boolean,
  createReader,
  json,
  jsonObject,
  nullable,
  number,
  object,
  oneOf,
  optional,
  string,
  time,
} from './field-readers.ts';
import type {
  SlimAttachment,
  SlimContinuation,
  SlimEvaluation,
  SlimExecution,
  SlimFailure,
  SlimMessage,
  SlimOmitted,
  SlimPayload,
  SlimStep,
  SlimStepCall,
  SlimToolCall,
  SlimToolResult,
  SlimUsage,
  SlimWait,
} from './slim-payload.ts';
import { slimKind, SlimOmission, slimSchema } from './slim-payload.ts';

const optionalString = optional(string);
const optionalNumber = optional(number);

const readCall = createReader<SlimToolCall>({ id: string, name: string, args: json, args_text: optionalString });

const readResult = createReader<SlimToolResult>({
  tool_call_id: string,
  tool_name: string,
  status: oneOf(['ok', 'error', 'rejected']),
  content: string,
});

const readAttachment = createReader<SlimAttachment>({
  type: oneOf(['image', 'file', 'source', 'provider']),
  media_type: optionalString,
  filename: optionalString,
  bytes: optionalNumber,
  title: optionalString,
  url: optionalString,
});

function readText(input: unknown, path: string): string {
  if (typeof input === 'string') return input;
  throw new DamagedDataError(path, 'expected a string');
}

const isOmission = (word: string): word is SlimOmission => Object.values<string>(SlimOmission).includes(word);

const readMessage = createReader<SlimMessage>({
  id: string,
  role: oneOf(messageRoles),
  name: optionalString,
  content: string,
  reasoning: optionalString,
  tool_calls: optional(array(readCall)),
  tool_results: optional(array(readResult)),
  attachments: optional(array(readAttachment)),
  metadata: optional(jsonObject),
  queued: optional(boolean),
  // A later version may leave out other things.
  omitted: optional((data, key) => data.array(key, readText).filter(isOmission)),
});

const readUsage = createReader<SlimUsage>({
  input: number,
  output: number,
  total: number,
  cache_read: optionalNumber,
  cache_write: optionalNumber,
  reasoning: optionalNumber,
  unknown_calls: optionalNumber,
});

const readFailure = createReader<SlimFailure>({
  type: oneOf(ErrorType),
  code: string,
  message: optionalString,
  tool_name: optionalString,
});

const readStepCall = createReader<SlimStepCall>({
  id: string,
  name: string,
  status: optional(oneOf(['succeeded', 'failed', 'rejected', 'cancelled', 'unknown'])),
});

const readEvaluation = createReader<SlimEvaluation>({
  criterion: string,
  decision: oneOf(ContinuationDecision),
  reason: string,
  stop_reason: optional(oneOf(StopReason)),
  limit: optional(oneOf(LimitKind)),
});

const evaluations = optional(array(readEvaluation));

const readStep = createReader<SlimStep>({
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
  duration_ms: nullable(number),
  text: optionalString,
  evaluations,
});

const readWait = createReader<SlimWait>({
  type: oneOf(['approval', 'client-tool', 'unknown-call', 'person', 'grant']),
  id: string,
  tool_name: optionalString,
  args: json,
  args_text: optionalString,
  prompt: optionalString,
  limit: optional(oneOf(LimitKind)),
  problem: optionalString,
  agent: optionalString,
});

const readContinuation = createReader<SlimContinuation>({
  should_continue: boolean,
  stop_reason: nullable(oneOf(StopReason)),
  resolved_by: string,
  decision: oneOf(ContinuationDecision),
  reason: optionalString,
  evaluations,
});

const readExecution = createReader<SlimExecution>({
  number,
  step_count: number,
  started_at: time,
  updated_at: time,
  cumulative_seconds: number,
});

const readOmitted = createReader<SlimOmitted>({ messages: number, steps: number, metadata: number });

const readKnown = createReader<SlimPayload>({
  kind: () => slimKind,
  schema: () => slimSchema,
  agent_id: string,
  parent_agent_id: nullable(string),
  status: oneOf(ExecutionStatus),
  execution: object(readExecution),
  usage: object(readUsage),
  messages: array(readMessage),
  current_step: nullable(object(readStep)),
  steps: array(readStep),
  waiting_for: array(readWait),
  last_continuation: nullable(object(readContinuation)),
  metadata: nullable(jsonObject),
  omitted: object(readOmitted),
  // Must be there, but is always read as false: no payload can be resumed.
  resumable: (data, key) => data.boolean(key) && false,
});

/** A payload that was read: the fields that this version knows, and the payload as it came. */
export interface ReadSlimPayload {
  readonly known: SlimPayload;
  readonly raw: JsonObject;
}

/** Reads a slim payload without changing it. */
export function readSlimPayload(input: unknown): ReadSlimPayload {
  if (typeof input === 'string') throw new DamagedDataError('', 'this is text; read it with JSON.parse() first');
  checkHeading(readObject(input), slimKind, slimSchema);
  // A copy, so that later changes to the input do not show here.
  const raw = frozenCopy(readJsonObject(input, ''));
  return { known: frozenCopy(readKnown(raw, '')), raw };
}
