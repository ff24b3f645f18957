import type { Failure } from '../errors/index.ts';
import type { IdSource, Json } from '../lib/index.ts';
import { cleanText, systemIds, toCanonical } from '../lib/index.ts';
import type { Message, ToolCall, ToolOutput } from '../messages/index.ts';
import { createResultMessage } from '../messages/index.ts';
import { clipText } from './clip-text.ts';
import { truncateOutput, defaultMaxResultChars } from './truncate-output.ts';

/** Start and duration of a call. */
export interface ExecutionTiming {
  readonly startedAt: number;
  /** @default 0 */
  readonly durationMs?: number;
}

interface ExecutionBase extends Required<ExecutionTiming> {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The arguments before a schema parsed them. */
  readonly args: Json;
  /** The result as the model reads it. */
  readonly output: ToolOutput;
}

/** The result of one call. Plain JSON: it is stored. */
export type ToolExecution =
  | (ExecutionBase & { readonly status: 'succeeded'; readonly value: Json; readonly failure?: never })
  | (ExecutionBase & { readonly status: 'failed'; readonly failure: Failure; readonly value?: never })
  /** `rejected`: a person said no. `cancelled`: it did not happen. `unknown`: it may have happened; nobody saw its end. */
  | (ExecutionBase & { readonly status: 'rejected' | 'cancelled' | 'unknown'; readonly value?: never; readonly failure?: never });

export type ToolExecutionStatus = ToolExecution['status'];

const longestMessage = 4000;

function toBase({ id, name, args }: ToolCall, { startedAt, durationMs = 0 }: ExecutionTiming): Omit<ExecutionBase, 'output'> {
  const canonical = toCanonical(args);
  return { toolCallId: id, toolName: name, args: canonical.ok ? canonical.value : null, startedAt, durationMs };
}

/** Output for the model made from a plain value. */
export function valueOutput(value: Json): ToolOutput {
  // Frozen here, it need not be copied into its message.
  if (typeof value !== 'string') return Object.freeze<ToolOutput>({ type: 'json', value });
  // Some providers refuse an empty text.
  return { type: 'text', value: value === '' ? '(empty text)' : value };
}

/** Creates the execution of a call that returned a value. The whole value is kept; the model reads at most `maxResultChars` of it. */
export function toSucceededExecution(
  call: ToolCall,
  result: { readonly value: Json; readonly output?: ToolOutput },
  { maxResultChars = defaultMaxResultChars, startedAt, durationMs = 0 }: ExecutionTiming & { readonly maxResultChars?: number | undefined },
): ToolExecution {
  const { value, output = valueOutput(value) } = result;
  // Field by field, because this runs for every call.
  return {
    toolCallId: call.id,
    toolName: call.name,
    // Holds: a call that ran was prepared before, so its arguments are in their stored form.
    args: call.args,
    startedAt,
    durationMs,
    status: 'succeeded',
    value,
    output: truncateOutput(output, maxResultChars),
  };
}

// A thrown value may be anything: it becomes storable text of limited length.
const toPlainText = (text: string): string => cleanText(clipText(text, longestMessage));

/** Creates the execution of a call that failed. The model reads why. */
export function toFailedExecution(
  call: ToolCall,
  failure: Failure,
  { text, ...timing }: ExecutionTiming & { readonly text?: string },
): ToolExecution {
  const message = toPlainText(failure.message);
  const names = { code: toPlainText(failure.code), toolName: call.name, toolCallId: call.id };
  const stored: Failure = { ...failure, message, ...names, readable: true };
  return { ...toBase(call, timing), status: 'failed', failure: stored, output: { type: 'error', value: toPlainText(text ?? message) } };
}

/** Code of a failure that the error policy ignores: the call, or its result, was blocked. */
export const blockedCode = 'blocked';

/** Creates the execution of a call that was blocked. The model reads why; nobody else has to act. */
export function toBlockedExecution(
  call: ToolCall,
  reason: string,
  { text, by, ...timing }: ExecutionTiming & { readonly text: string; readonly by: string },
): ToolExecution {
  const failure: Failure = { type: 'tool', code: blockedCode, message: reason, retryable: false, blockedBy: by };
  return toFailedExecution(call, failure, { ...timing, text });
}

/** Creates the execution of a call that a person rejected. */
export function toRejectedExecution(call: ToolCall, reason: string, timing: ExecutionTiming): ToolExecution {
  return { ...toBase(call, timing), status: 'rejected', output: { type: 'rejected', reason: toPlainText(reason) } };
}

/** Creates the execution of a call that was still waiting when a new message arrived. */
export function toSupersededExecution(call: ToolCall, timing: ExecutionTiming): ToolExecution {
  return toRejectedExecution(call, 'superseded by a new message', timing);
}

/** Creates the execution of a call that was stopped without a lasting effect. */
export function toCancelledExecution(call: ToolCall, timing: ExecutionTiming & { readonly text?: string }): ToolExecution {
  const { text = 'The call was cancelled before it ended.' } = timing;
  return { ...toBase(call, timing), status: 'cancelled', output: { type: 'error', value: text } };
}

/** Creates the execution of a call that was interrupted after it had started; it may or may not have taken effect. */
export function toUnknownExecution(call: ToolCall, timing: ExecutionTiming & { readonly text?: string }): ToolExecution {
  const { text = 'The call was interrupted. It may or may not have taken effect: find out before you repeat it.' } = timing;
  return { ...toBase(call, timing), status: 'unknown', output: { type: 'error', value: text } };
}

/** Creates one tool message per call, in the order given. */
export function toToolMessages(
  executions: readonly ToolExecution[],
  { ids = systemIds }: { readonly ids?: IdSource } = {},
): readonly Message[] {
  return executions.map((execution) => createResultMessage(execution, ids));
}
