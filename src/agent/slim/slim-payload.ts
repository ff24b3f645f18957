// The slim payload: a state in short, as JSON.
// P1. It is JSON and nothing else: what JSON.parse gives of it equals it, and no text has half a surrogate pair.
// P2. A whole payload (`resumable: true`) holds everything that the state's own JSON holds, once, and is not longer than that. Only the wait
//     of a step that ended the process is shown on top: in a short state that makes it longer.
// P3. A lossy payload (`resumable: 'lossy'`) was cut, or secrets were removed from it. It says what is missing: a cut text ends in the
//     mark; what was left out is counted in `omitted`, or named in its place. A tool result follows its call.
// P4. Step numbers are those of the execution, whatever was cut.
// P5. Fields may be added without a new number; readers ignore those that they do not know.
import type { JsonObject, ObjectReader } from '../../lib/index.ts';
import { childPath, DamagedDataError, copyFrozen, readJsonObject, readObject } from '../../lib/index.ts';
import type { MessageRole } from '../../messages/index.ts';
import { checkHeading, WrongKindError } from '../../serialization/index.ts';
import type { Grant } from '../../step-by-step/index.ts';
import { ExecutionStatus, parseGrant } from '../../step-by-step/index.ts';
import type { FieldReader } from './field-readers.ts';
import {
  amount,
  array,
  boolean,
  createReader,
  jsonObject,
  nullable,
  number,
  object,
  oneOf,
  optional,
  optionalNumber,
  optionalString,
  string,
  time,
} from './field-readers.ts';
import type { SlimContinuation, SlimContinuationSummary } from './slim-continuation.ts';
import { readContinuation, readContinuationSummary } from './slim-continuation.ts';
import { slimKind } from './slim-kind.ts';
import type { SlimMessage } from './slim-message.ts';
import { readMessage } from './slim-message.ts';
import type { SlimStep, SlimStepSummary } from './slim-step.ts';
import { readStep, readStepSummary } from './slim-step.ts';
import type { SlimUsage } from './slim-usage.ts';
import { readUsage, readUsageCounts } from './slim-usage.ts';
import type { ReadWholeWait, SlimWait, WholeSlimWait } from './slim-wait.ts';
import { readWait, readWholeWait } from './slim-wait.ts';

export const slimSchema = 1;

interface SlimTimes {
  /** Absent until a run has started. */
  readonly id?: string;
  readonly step_count: number;
  /** Start of the session. */
  readonly started_at: string;
  readonly updated_at: string;
  /** Time spent in steps over the whole session. */
  readonly cumulative_seconds: number;
}

const times = { id: optionalString, step_count: number, started_at: time, updated_at: time, cumulative_seconds: amount };

export interface WholeSlimExecution extends SlimTimes {
  /** Counts from 1 in the session. Absent for the first. */
  readonly number?: number;
}

export interface SlimExecution extends SlimTimes {
  /** Counts from 1 in the session. */
  readonly number: number;
  /** Time that this execution has spent in steps. */
  readonly active_ms: number;
  readonly cost?: { readonly usd: number; readonly unknown_calls?: number };
  /** Amounts granted on top of the limits. */
  readonly grants?: readonly Grant[];
}

const readGrant = (input: unknown, path: string): Grant => {
  try {
    return parseGrant(readJsonObject(input, path));
  } catch (error) {
    throw new DamagedDataError(path, 'expected amounts that were granted', error);
  }
};

const readExecution = createReader<SlimExecution>({
  ...times,
  number,
  active_ms: number,
  cost: optional(object(createReader<NonNullable<SlimExecution['cost']>>({ usd: number, unknown_calls: optionalNumber }))),
  grants: optional(array(readGrant)),
});

/** Counts of what is not in the payload. */
export interface SlimOmitted {
  readonly messages: number;
  readonly steps: number;
  /** Fields of the state's metadata. */
  readonly metadata: number;
  /** True if texts or values were cut. */
  readonly cut?: boolean;
  /** True if secrets were removed. */
  readonly secrets?: boolean;
}

interface SlimHead {
  readonly schema: typeof slimSchema;
  readonly agent_id: string;
  readonly parent_agent_id: string | null;
  /** The id of the state, which is that of its session if it has one. */
  readonly session_id: string;
  readonly status: ExecutionStatus;
  /** Number of the last event. Absent if there was none. */
  readonly last_seq?: number;
}

const head = {
  schema: (): typeof slimSchema => slimSchema,
  agent_id: string,
  parent_agent_id: nullable(string),
  session_id: string,
  status: oneOf(ExecutionStatus),
  last_seq: optionalNumber,
} as const;

/** A state that was cut, or from which secrets were removed. */
export interface LossySlimPayload extends SlimHead {
  readonly state?: never;
  readonly kind: typeof slimKind;
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
  readonly resumable: 'lossy';
}

/** Makes the fields of the other kind of payload readable: they are never there. */
type NoneOf<Fields> = { readonly [Key in keyof Fields]?: never };

/** A message as it is stored: plain text is `content`, anything else is `parts`. */
export interface StoredMessage extends NoneOf<Omit<SlimMessage, 'id' | 'role' | 'content' | 'name' | 'metadata'>> {
  readonly id: string;
  readonly role: MessageRole;
  readonly content?: string;
  readonly parts?: readonly JsonObject[];
  readonly name?: string;
  readonly metadata?: JsonObject;
}

/** The last decision in a whole payload: the rest of it is in `state`. */
export type WholeSlimContinuation = SlimContinuationSummary & NoneOf<Omit<SlimContinuation, keyof SlimContinuationSummary>>;

/** A step of a whole payload: the rest of it is in `state`. */
export type WholeSlimStep = SlimStepSummary & NoneOf<Omit<SlimStep, keyof SlimStepSummary>>;

/** A state with nothing missing. Its messages are in their stored form; `state` has the rest, in short names that are not for reading. */
export interface WholeSlimPayload extends SlimHead, NoneOf<Pick<LossySlimPayload, 'kind' | 'omitted'>> {
  readonly execution: WholeSlimExecution;
  /** Of this execution; the total is the sum of input and output. */
  readonly usage: Omit<SlimUsage, 'total'>;
  /** Oldest first, in the order of the conversation. */
  readonly messages: readonly StoredMessage[];
  readonly current_step: WholeSlimStep | null;
  readonly steps: readonly WholeSlimStep[];
  /** Absent if nothing is waited for. */
  readonly waiting_for?: readonly WholeSlimWait[];
  readonly last_continuation: WholeSlimContinuation | null;
  readonly metadata: JsonObject;
  readonly resumable: true;
  /** Absent if the other fields say everything. */
  readonly state?: JsonObject;
}

/** A state in short. `resumable` says whether everything is in it. */
export type SlimPayload = WholeSlimPayload | LossySlimPayload;

const readLossy = createReader<Omit<LossySlimPayload, 'state'>>({
  ...head,
  kind: () => slimKind,
  execution: object(readExecution),
  usage: object(readUsage),
  messages: array(readMessage),
  current_step: nullable(object(readStep)),
  steps: array(readStep),
  waiting_for: array(readWait),
  last_continuation: nullable(object(readContinuation)),
  metadata: nullable(jsonObject),
  omitted: object(
    createReader<SlimOmitted>({
      messages: number,
      steps: number,
      metadata: number,
      cut: optional(boolean),
      secrets: optional(boolean),
    }),
  ),
  resumable: () => 'lossy',
});

/** Fields of a whole payload that are read before its state. The state reads the messages itself. */
export interface ReadWholePayload extends Omit<WholeSlimPayload, 'messages' | 'waiting_for' | 'kind' | 'omitted'> {
  readonly messages: readonly JsonObject[];
  readonly waiting_for?: readonly ReadWholeWait[];
}

const readWhole = createReader<ReadWholePayload>({
  ...head,
  execution: object(createReader<WholeSlimExecution>({ ...times, number: optionalNumber })),
  usage: object(readUsageCounts),
  messages: array(readJsonObject),
  current_step: nullable(object(readStepSummary)),
  steps: array(readStepSummary),
  waiting_for: optional(array(readWholeWait)),
  last_continuation: nullable(object(readContinuationSummary)),
  metadata: jsonObject,
  resumable: () => true,
  state: optional(jsonObject),
});

const resumable: FieldReader<true | 'lossy'> = (data, key) => {
  const found = data.raw[key];
  if (found === true || found === 'lossy') return found;
  throw new DamagedDataError(
    childPath(data.path, key),
    `expected true or "lossy", found ${found === undefined ? 'nothing' : JSON.stringify(found)}`,
  );
};

function checkKind(data: ObjectReader): void {
  const found = data.optionalString('kind') ?? slimKind;
  const advice = found === 'agent-state' ? 'Read a stored state with agent.restore() or AgentState.fromJSON().' : undefined;
  if (found !== slimKind) throw new WrongKindError(slimKind, found, advice);
}

/** Reads a slim payload without changing it. */
export function readSlimPayload(input: unknown): ReadWholePayload | LossySlimPayload {
  if (typeof input === 'string') throw new DamagedDataError('', 'expected an object, found a string; parse it with JSON.parse() first');
  const data = readObject(input);
  checkKind(data);
  checkHeading(readObject({ ...data.raw, kind: slimKind }), slimKind, slimSchema);
  // A copy, so that later changes to the input do not show in the state.
  const payload = copyFrozen(readJsonObject(input, ''));
  return resumable(data, 'resumable') === true ? readWhole(payload, '') : readLossy(payload, '');
}
