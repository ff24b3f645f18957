// The entries of a log.
// B1. An entry holds an action, a change of the state, or both.
// B2. The state is what the entries say, read from a snapshot on.
import type { JsonObject } from '../../lib/index.ts';
import { DamagedDataError, InvalidArgumentError, omitUndefined, readObject } from '../../lib/index.ts';
import type { RunState, StateLines, StateType } from '../../step-by-step/index.ts';
import { hasLines, splitLines } from '../../step-by-step/index.ts';
import type { Action, RecordedAction } from './action.ts';
import type { StepRequests } from './sent-requests.ts';
import type { SessionApproval } from './session-approvals.ts';
import { hasCode, SessionDamagedError } from './errors.ts';
import type { LogEntry, SessionReader } from '../store/session-store.ts';

/** The format of the entries that this version writes, and the highest that it reads. */
export const storedFormat = 1;

/** The body of an entry. */
export interface EntryBody {
  readonly action?: Action;
  /** True if the action came during a run: it waits until an entry applies it. */
  readonly isQueued?: boolean;
  /** True if the action is a message that opens an execution of its own once the one in progress has ended. */
  readonly opensNext?: boolean;
  /** The entries whose actions are applied here. */
  readonly applied?: readonly number[];
  /** The execution that the action, or the actions, went to. */
  readonly execution?: number;
  /** Entries whose actions could not be applied, with the reason. */
  readonly refused?: readonly {
    readonly entry: number;
    readonly why: string;
    readonly code?: string;
    /** The error, for a caller in another process. */
    readonly error?: JsonObject;
  }[];
  /** All approvals for the rest of the session, if the entry changes them, or is a snapshot. */
  readonly approvals?: readonly SessionApproval[];
  /** Requests to models in the step that the entry records or parks. */
  readonly requests?: StepRequests;
  /** The change that the entry makes to the state. */
  readonly change?: JsonObject;
  /** The whole state, in an entry that is a snapshot: as text, or in lines. */
  readonly state?: string | StateLines;
}

/** An action that waits to be applied. */
export interface QueuedAction {
  readonly action: Action;
  /** The execution in progress when it came. */
  readonly execution: number;
  /** True for a message that opens an execution of its own once that one has ended. */
  readonly opensNext?: boolean;
}

/** Queued actions by their entry, in their order. */
export type Queue = ReadonlyMap<number, QueuedAction>;

/** The state and the queue at the end of some entries. */
export interface ReplayedLog {
  readonly state: RunState;
  readonly queued: Map<number, QueuedAction>;
  /** Approvals for the rest of the session. */
  readonly approvals: readonly SessionApproval[];
  /** True if they end with a fork that nobody has acted on. */
  readonly isUntouchedFork: boolean;
}

/** Reads a body. Its writer guarantees that an action is whole: the store has checked that nothing was changed. */
export function readBody(text: string): EntryBody {
  const split = splitLines(text);
  const body = readObject(JSON.parse(split?.text ?? text), 'entry');
  body.optionalObject('action')?.time('at');
  return split === undefined ? body.raw : { ...body.raw, state: { written: body.raw['state'], lines: split.lines } };
}

/** Writes a body. A state in lines is written unchanged, so the body has lines too. */
export function writeBody({ state, ...rest }: EntryBody): string {
  const text = JSON.stringify(rest);
  if (state === undefined) return text;
  const written = typeof state === 'string' && hasLines(state) ? state : JSON.stringify(state);
  return text === '{}' ? `{"state":${written}}` : `${text.slice(0, -1)},"state":${written}}`;
}

/** Writes the state of a snapshot: in lines, if it is long. */
export const writeState = (states: StateType, state: RunState): string => (states.stringifyLines ?? states.stringify)(state);

/** Reads the state of a snapshot. */
function readState(state: string | StateLines, states: StateType): RunState {
  if (typeof state === 'string') return states.parse(state);
  if (states.decodeLines !== undefined) return states.decodeLines(state);
  throw new InvalidArgumentError(`The state of kind "${states.kind}" was stored in lines. Its StateType needs decodeLines() to read it.`);
}

/** Reads all entries from one on, page by page. */
export async function readEntriesFrom(reader: SessionReader, sessionId: string, first: number): Promise<readonly LogEntry[]> {
  const all: LogEntry[] = [];
  for (;;) {
    const page = await reader.log.entries(sessionId, { from: first + all.length });
    if (page.length === 0) return all;
    all.push(...page);
  }
}

/** An action that is in the log. */
export type LoggedAction = RecordedAction & { readonly entry: number };

/** Reads the actions of a session, in their order; those that were refused say why. */
export function readActions(entries: readonly LogEntry[]): readonly LoggedAction[] {
  const bodies = entries.map(({ n, body, requestId }) => ({ n, requestId, ...readBody(body) }));
  const reasons = new Map(bodies.flatMap(({ refused = [] }) => refused.map(({ entry, why }) => [entry, why] as const)));
  return bodies.flatMap(({ n: entry, action, requestId }) => {
    return action === undefined ? [] : [{ ...action, ...omitUndefined({ entry, requestId, refused: reasons.get(entry) }) }];
  });
}

/** A message of an action. */
export interface SentMessage {
  /** The entry of the action. */
  readonly entry: number;
  readonly message: JsonObject;
}

/** Messages of the actions that an entry applies: its change and its events refer to them, and do not repeat them. */
export function findSentMessages(n: number, { action, isQueued, applied = [] }: EntryBody, queued: Queue): readonly SentMessage[] {
  const actions = [
    { entry: n, action: isQueued === true ? undefined : action },
    ...applied.map((entry) => ({ entry, action: queued.get(entry)?.action })),
  ];
  return actions.flatMap(({ entry, action: each }) => (each?.type === 'send' ? [{ entry, message: each.message }] : []));
}

const getMessages = (sent: readonly SentMessage[]): readonly JsonObject[] => sent.map(({ message }) => message);

/** Adds the action that an entry queues, and removes those that it applies or refuses. */
export function updateQueue(
  queued: Map<number, QueuedAction>,
  entry: number,
  { action, isQueued, opensNext, execution = 0, applied = [], refused = [] }: EntryBody,
): void {
  if (action !== undefined && isQueued === true) queued.set(entry, { action, execution, ...(opensNext === true && { opensNext }) });
  for (const done of [...applied, ...refused.map((each) => each.entry)]) queued.delete(done);
}

/** Returns whether a log ends with a fork that nobody has acted on, after one more entry. To erase a message does not count. */
export function isUntouchedAfter(isUntouchedFork: boolean, { action, change }: EntryBody): boolean {
  if (action === undefined || action.type === 'erase') return isUntouchedFork && change === undefined;
  return action.type === 'fork';
}

/** Reads the state and the queue from entries. The first one is a snapshot, unless they continue a log that was read before. */
export function replay(entries: readonly LogEntry[], states: StateType, before?: ReplayedLog): ReplayedLog {
  let { state, isUntouchedFork = false, approvals = [] }: Partial<ReplayedLog> = before ?? {};
  const queued = new Map(before?.queued);
  for (const { n, body } of entries) {
    const read = readBody(body);
    const { change, state: whole } = read;
    if (whole !== undefined) {
      state = readState(whole, states);
      approvals = [];
    }
    if (read.approvals !== undefined) ({ approvals } = read);
    if (change !== undefined && state !== undefined) state = states.patch(state, change, getMessages(findSentMessages(n, read, queued)));
    updateQueue(queued, n, read);
    isUntouchedFork = isUntouchedAfter(isUntouchedFork, read);
  }
  if (state === undefined) throw new DamagedDataError('log', 'the first snapshot is missing');
  return { state, queued, approvals, isUntouchedFork };
}

/** Returns the error of reading a session's data: damage if the data is to blame, else the error itself. */
export function toReadError(sessionId: string, error: unknown): unknown {
  const isDamage = error instanceof SyntaxError || hasCode(error, 'damaged-data');
  return isDamage ? new SessionDamagedError(sessionId, error.message, error) : error;
}

/** Reads what a store returned. An error of the data is damage; any other is an error of the reader, not of the session. */
export function readStored<Value>(sessionId: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw toReadError(sessionId, error);
  }
}
