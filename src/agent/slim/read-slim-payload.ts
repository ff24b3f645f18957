import type { ObjectReader } from '../../lib/index.ts';
import { DamagedDataError, frozenCopy, readJsonObject, readObject } from '../../lib/index.ts';
import { messageRoles } from '../../messages/index.ts';
import { NewerSchemaError, WrongKindError } from '../../serialization/index.ts';
import { ExecutionStatus } from '../../step-by-step/index.ts';
import { given, nullable, readContinuation, readSlimWait, readStep, readText, readTime, readUsage } from './read-slim-step.ts';
import type { ReadSlimPayload } from './slim-agent-state.ts';
import type { SlimAttachment, SlimExecution, SlimMessage, SlimOmitted, SlimPayload, SlimToolCall, SlimToolResult } from './slim-payload.ts';
import { slimKind, SlimOmission, slimSchema } from './slim-payload.ts';

function readCall(input: unknown, path: string): SlimToolCall {
  const data = readObject(input, path);
  const shown = given({ args: data.optionalJson('args'), args_text: data.optionalString('args_text') });
  return { id: data.string('id'), name: data.string('name'), ...shown };
}

function readResult(input: unknown, path: string): SlimToolResult {
  const data = readObject(input, path);
  return {
    tool_call_id: data.string('tool_call_id'),
    tool_name: data.string('tool_name'),
    status: data.oneOf('status', ['ok', 'error', 'rejected']),
    content: data.string('content'),
  };
}

function readAttachment(input: unknown, path: string): SlimAttachment {
  const data = readObject(input, path);
  return {
    type: data.oneOf('type', ['image', 'file', 'source', 'provider']),
    ...given({
      media_type: data.optionalString('media_type'),
      filename: data.optionalString('filename'),
      bytes: data.optionalNumber('bytes'),
      title: data.optionalString('title'),
      url: data.optionalString('url'),
    }),
  };
}

const omissions: readonly string[] = Object.values(SlimOmission);
const isOmission = (word: string): word is SlimOmission => omissions.includes(word);

function readMessage(input: unknown, path: string): SlimMessage {
  const data = readObject(input, path);
  return {
    id: data.string('id'),
    role: data.oneOf('role', messageRoles),
    content: data.string('content'),
    ...given({
      name: data.optionalString('name'),
      reasoning: data.optionalString('reasoning'),
      tool_calls: data.optionalArray('tool_calls', readCall),
      tool_results: data.optionalArray('tool_results', readResult),
      attachments: data.optionalArray('attachments', readAttachment),
      metadata: data.optionalJsonObject('metadata'),
      queued: data.optionalBoolean('queued'),
      omitted: data.optionalArray('omitted', readText)?.filter(isOmission),
    }),
  };
}

function readExecution(input: unknown, path: string): SlimExecution {
  const data = readObject(input, path);
  return {
    number: data.number('number'),
    step_count: data.number('step_count'),
    started_at: data.value('started_at', readTime),
    updated_at: data.value('updated_at', readTime),
    cumulative_seconds: data.number('cumulative_seconds'),
  };
}

function readOmitted(input: unknown, path: string): SlimOmitted {
  const data = readObject(input, path);
  return { messages: data.number('messages'), steps: data.number('steps'), metadata: data.number('metadata') };
}

function checkHeading(data: ObjectReader): void {
  const kind = data.string('kind');
  if (kind !== slimKind) throw new WrongKindError(slimKind, kind);
  const schema = data.number('schema');
  if (!Number.isInteger(schema) || schema < 1)
    throw new DamagedDataError('schema', `expected a whole number from 1 on, found ${String(schema)}`);
  if (schema > slimSchema) throw new NewerSchemaError(slimKind, { found: schema, supported: slimSchema });
}

function readKnown(data: ObjectReader): SlimPayload {
  // Asked for although the answer is known: a payload without it was written by something else.
  data.boolean('resumable');
  return {
    kind: slimKind,
    schema: slimSchema,
    agent_id: data.string('agent_id'),
    parent_agent_id: nullable(data, 'parent_agent_id', readText),
    status: data.oneOf('status', Object.values(ExecutionStatus)),
    execution: data.value('execution', readExecution),
    usage: data.value('usage', readUsage),
    messages: data.array('messages', readMessage),
    current_step: nullable(data, 'current_step', readStep),
    steps: data.array('steps', readStep),
    waiting_for: data.array('waiting_for', readSlimWait),
    last_continuation: nullable(data, 'last_continuation', readContinuation),
    metadata: nullable(data, 'metadata', readJsonObject),
    omitted: data.value('omitted', readOmitted),
    resumable: false,
  };
}

/** Reads a slim payload; never changes it. Fields that are not known are kept in `raw` only. */
export function readSlimPayload(input: unknown): ReadSlimPayload {
  if (typeof input === 'string') throw new DamagedDataError('', 'this is text; read it with JSON.parse() first');
  checkHeading(readObject(input));
  // A copy, so that what its owner does with the payload later changes nothing here.
  const raw = frozenCopy(readJsonObject(input, ''));
  return { known: frozenCopy(readKnown(readObject(raw))), raw };
}
