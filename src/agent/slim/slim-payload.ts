// The slim payload: a state as a screen shows it, in JSON.
// P1. It is JSON and nothing else: what JSON.parse gives of it equals it, and no text has half a surrogate pair.
// P2. It is never resumable. Even uncut it lacks what a run needs: the state's id and event number, earlier executions, answers to waits,
//     runs inside calls, sections beside the conversation, and what providers want back unread. So `resumable` is false in all of them.
// P3. A tool result stands behind its call. What was cut ends in the mark; what was left out is counted in `omitted`, or named there.
// P4. Step numbers are those of the execution, whatever was cut.
// P5. Fields may be added without a new number; readers ignore what they do not know.
import type { JsonObject } from '../../lib/index.ts';
import { DamagedDataError, frozenCopy, readJsonObject, readObject } from '../../lib/index.ts';
import { checkHeading } from '../../serialization/index.ts';
import { ExecutionStatus } from '../../step-by-step/index.ts';
import { array, createReader, jsonObject, nullable, number, object, oneOf, string, time } from './field-readers.ts';
import type { SlimContinuation } from './slim-continuation.ts';
import { readContinuation } from './slim-continuation.ts';
import type { SlimMessage } from './slim-message.ts';
import { readMessage } from './slim-message.ts';
import type { SlimStep, SlimUsage, SlimWait } from './slim-step.ts';
import { readStep, readUsage, readWait } from './slim-step.ts';

/** Tells a slim payload from a stored state. */
export const slimKind = 'slim-agent-state';
export const slimSchema = 1;

export interface SlimExecution {
  /** Counts from 1 in the session. */
  readonly number: number;
  readonly step_count: number;
  /** When the session began. */
  readonly started_at: string;
  readonly updated_at: string;
  /** Time spent in steps over the whole session. */
  readonly cumulative_seconds: number;
}

const readExecution = createReader<SlimExecution>({
  number,
  step_count: number,
  started_at: time,
  updated_at: time,
  cumulative_seconds: number,
});

/** Counts of what is not in the payload. */
export interface SlimOmitted {
  readonly messages: number;
  readonly steps: number;
  /** Fields of the state's metadata. */
  readonly metadata: number;
}

/** A state for display. Pause and resume use the state's own codec. */
export interface SlimPayload {
  readonly kind: typeof slimKind;
  readonly schema: typeof slimSchema;
  readonly agent_id: string;
  readonly parent_agent_id: string | null;
  readonly status: ExecutionStatus;
  readonly execution: SlimExecution;
  /** Of this execution. */
  readonly usage: SlimUsage;
  /** Oldest first, in the order of the conversation. */
  readonly messages: readonly SlimMessage[];
  /** The step that waits or is being judged, else the last one. */
  readonly current_step: SlimStep | null;
  /** Those of this execution that have been taken, oldest first. */
  readonly steps: readonly SlimStep[];
  /** A start that was refused at a limit waits too, and has no step. */
  readonly waiting_for: readonly SlimWait[];
  readonly last_continuation: SlimContinuation | null;
  /** Null if the config leaves it out. */
  readonly metadata: JsonObject | null;
  readonly omitted: SlimOmitted;
  readonly resumable: false;
}

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
  omitted: object(createReader<SlimOmitted>({ messages: number, steps: number, metadata: number })),
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
