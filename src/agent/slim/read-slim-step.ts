import { ContinuationDecision, LimitKind, StopReason } from '../../continuation/index.ts';
import { ErrorType } from '../../errors/index.ts';
import type { ObjectReader, ReadValue } from '../../lib/index.ts';
import { DamagedDataError, childPath, readObject } from '../../lib/index.ts';
import { Interruption } from '../../step-by-step/index.ts';
import { StepType } from '../../tool-use/index.ts';
import type { SlimContinuation, SlimEvaluation, SlimFailure, SlimStep, SlimStepCall, SlimUsage, SlimWait } from './slim-payload.ts';

/** A field that may be null and must be there. */
export function nullable<Value>(data: ObjectReader, key: string, read: ReadValue<Value>): Value | null {
  if (!data.has(key)) throw new DamagedDataError(childPath(data.path, key), 'expected a value or null, found nothing');
  return data.optionalValue(key, read) ?? null;
}

export function readText(input: unknown, path: string): string {
  if (typeof input === 'string') return input;
  throw new DamagedDataError(path, 'expected a string');
}

function readNumber(input: unknown, path: string): number {
  if (typeof input === 'number' && Number.isFinite(input)) return input;
  throw new DamagedDataError(path, 'expected a number');
}

/** A date and time as text, kept as text. */
export function readTime(input: unknown, path: string): string {
  const text = readText(input, path);
  if (!Number.isNaN(Date.parse(text))) return text;
  throw new DamagedDataError(path, `expected a date and time, found ${JSON.stringify(text.slice(0, 60))}`);
}

type Defined<Fields> = { readonly [Key in keyof Fields]?: Exclude<Fields[Key], undefined> };

/** The fields that are there. */
export function given<Fields extends object>(fields: Fields): Defined<Fields> {
  // Holds: only fields that are undefined go.
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<Fields>;
}

export function readUsage(input: unknown, path: string): SlimUsage {
  const data = readObject(input, path);
  return {
    input: data.number('input'),
    output: data.number('output'),
    total: data.number('total'),
    ...given({
      cache_read: data.optionalNumber('cache_read'),
      cache_write: data.optionalNumber('cache_write'),
      reasoning: data.optionalNumber('reasoning'),
      unknown_calls: data.optionalNumber('unknown_calls'),
    }),
  };
}

function readFailure(input: unknown, path: string): SlimFailure {
  const data = readObject(input, path);
  return {
    type: data.oneOf('type', Object.values(ErrorType)),
    code: data.string('code'),
    ...given({ message: data.optionalString('message'), tool_name: data.optionalString('tool_name') }),
  };
}

function readStepCall(input: unknown, path: string): SlimStepCall {
  const data = readObject(input, path);
  const status = data.optionalOneOf('status', ['succeeded', 'failed', 'rejected', 'cancelled', 'unknown']);
  return { id: data.string('id'), name: data.string('name'), ...given({ status }) };
}

function readEvaluation(input: unknown, path: string): SlimEvaluation {
  const data = readObject(input, path);
  return {
    criterion: data.string('criterion'),
    decision: data.oneOf('decision', Object.values(ContinuationDecision)),
    reason: data.string('reason'),
    ...given({
      stop_reason: data.optionalOneOf('stop_reason', Object.values(StopReason)),
      limit: data.optionalOneOf('limit', Object.values(LimitKind)),
    }),
  };
}

export function readStep(input: unknown, path: string): SlimStep {
  const data = readObject(input, path);
  return {
    step_number: data.number('step_number'),
    type: data.oneOf('type', Object.values(StepType)),
    has_tool_calls: data.boolean('has_tool_calls'),
    finish_reason: nullable(data, 'finish_reason', readText),
    errors: data.array('errors', readFailure),
    usage: data.value('usage', readUsage),
    tool_calls: data.array('tool_calls', readStepCall),
    started_at: nullable(data, 'started_at', readTime),
    ended_at: nullable(data, 'ended_at', readTime),
    duration_ms: nullable(data, 'duration_ms', readNumber),
    ...given({
      interrupted: data.optionalOneOf('interrupted', Object.values(Interruption)),
      model: data.optionalString('model'),
      text: data.optionalString('text'),
      evaluations: data.optionalArray('evaluations', readEvaluation),
    }),
  };
}

export function readSlimWait(input: unknown, path: string): SlimWait {
  const data = readObject(input, path);
  return {
    type: data.oneOf('type', ['approval', 'client-tool', 'unknown-call', 'person', 'grant']),
    id: data.string('id'),
    ...given({
      tool_name: data.optionalString('tool_name'),
      args: data.optionalJson('args'),
      args_text: data.optionalString('args_text'),
      prompt: data.optionalString('prompt'),
      limit: data.optionalOneOf('limit', Object.values(LimitKind)),
      problem: data.optionalString('problem'),
      agent: data.optionalString('agent'),
    }),
  };
}

export function readContinuation(input: unknown, path: string): SlimContinuation {
  const data = readObject(input, path);
  const reasons = Object.values(StopReason);
  return {
    should_continue: data.boolean('should_continue'),
    stop_reason: nullable(data, 'stop_reason', () => data.oneOf('stop_reason', reasons)),
    resolved_by: data.string('resolved_by'),
    decision: data.oneOf('decision', Object.values(ContinuationDecision)),
    ...given({ reason: data.optionalString('reason'), evaluations: data.optionalArray('evaluations', readEvaluation) }),
  };
}
