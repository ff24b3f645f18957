// The entries of a log.
// B1. An entry holds an action, a change of the state, or both.
// B2. The state is what the entries say, read from a snapshot on.
import type { JsonObject } from '../lib/index.ts';
import { DamagedDataError, omitUndefined, readObject, SteplineError } from '../lib/index.ts';
import type { RunState, StateType } from '../step-by-step/index.ts';
import type { Action, ForkPoint, RecordedAction } from './action.ts';
import { toFacts } from './session.ts';
import { SessionDamagedError } from './session-damaged-error.ts';
import type { LogEntry, SessionStore } from './session-store.ts';
import { UnknownStepError } from './unknown-step-error.ts';

/** The body of an entry. */
export interface EntryBody {
  readonly action?: Action;
  /** True if the action came during a run: it waits until an entry applies it. */
  readonly isQueued?: boolean;
  /** The entries whose actions are applied here. */
  readonly applied?: readonly number[];
  /** The execution that the action, or the actions, went to. */
  readonly execution?: number;
  /** Entries whose actions could not be applied, with the reason. */
  readonly refused?: readonly { readonly entry: number; readonly why: string; readonly code?: string }[];
  /** The change that the entry makes to the state. */
  readonly change?: JsonObject;
  /** The whole state as text, in an entry that is a snapshot. */
  readonly state?: string;
}

/** An action that waits to be applied. */
export interface QueuedAction {
  readonly action: Action;
  /** The execution in progress when it came. */
  readonly execution: number;
}

/** Queued actions by their entry, in their order. */
export type Queue = ReadonlyMap<number, QueuedAction>;

/** The state and the queue at the end of some entries. */
export interface ReplayedLog {
  readonly state: RunState;
  readonly queued: Map<number, QueuedAction>;
}

/** Reads a body. Its writer guarantees that an action is whole: the store has checked that nothing was changed. */
export function readBody(text: string): EntryBody {
  const body = readObject(JSON.parse(text), 'entry');
  body.optionalObject('action')?.time('at');
  return body.raw;
}

/** Reads all entries from one on, page by page. */
export async function readEntriesFrom(store: SessionStore, sessionId: string, first: number): Promise<readonly LogEntry[]> {
  const all: LogEntry[] = [];
  for (;;) {
    const page = await store.entries(sessionId, { from: first + all.length });
    if (page.length === 0) return all;
    all.push(...page);
  }
}

/** Reads the actions of a session, in their order; those that were refused say why. */
export function readActions(entries: readonly LogEntry[]): readonly RecordedAction[] {
  const bodies = entries.map(({ n, body, requestId }) => ({ n, requestId, ...readBody(body) }));
  const reasons = new Map(bodies.flatMap(({ refused = [] }) => refused.map(({ entry, why }) => [entry, why] as const)));
  return bodies.flatMap(({ n: entry, action, requestId }) => {
    return action === undefined ? [] : [{ ...action, ...omitUndefined({ entry, requestId, refused: reasons.get(entry) }) }];
  });
}

/** Messages of the actions that an entry applies: its change refers to them, and does not repeat them. */
export function getSentMessages({ action, isQueued, applied = [] }: EntryBody, queued: Queue): readonly JsonObject[] {
  const actions = [isQueued === true ? undefined : action, ...applied.map((entry) => queued.get(entry)?.action)];
  return actions.flatMap((each) => (each?.type === 'send' ? [each.message] : []));
}

/** Adds the action that an entry queues, and removes those that it applies or refuses. */
export function updateQueue(
  queued: Map<number, QueuedAction>,
  entry: number,
  { action, isQueued, execution = 0, applied = [], refused = [] }: EntryBody,
): void {
  if (action !== undefined && isQueued === true) queued.set(entry, { action, execution });
  for (const done of [...applied, ...refused.map((each) => each.entry)]) queued.delete(done);
}

/** Reads the state and the queue from entries, the first of which is a snapshot. */
export function replay(entries: readonly LogEntry[], states: StateType): ReplayedLog {
  let state: RunState | undefined;
  const queued = new Map<number, QueuedAction>();
  for (const { n, body } of entries) {
    const read = readBody(body);
    const { change, state: whole } = read;
    if (whole !== undefined) state = states.parse(whole);
    if (change !== undefined && state !== undefined) state = states.patch(state, change, getSentMessages(read, queued));
    updateQueue(queued, n, read);
  }
  if (state === undefined) throw new DamagedDataError('log', 'there is no snapshot to begin with');
  return { state, queued };
}

/** Returns the error of reading a session's data: damage if the data is to blame, else the error itself. */
export function toReadError(sessionId: string, error: unknown): unknown {
  const isDamage = error instanceof SyntaxError || (SteplineError.is(error) && error.code === 'damaged-data');
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

/** Reads the state as it was when a step had just been recorded. */
export async function readStateAfterStep(store: SessionStore, states: StateType, at: ForkPoint): Promise<RunState> {
  const { sessionId, execution, step } = at;
  const entries: LogEntry[] = [];
  for (;;) {
    const page = await store.entries(sessionId, { from: entries.length + 1 });
    const found = page.findIndex((entry) => entry.execution === execution && entry.step === step);
    entries.push(...(found === -1 ? page : page.slice(0, found + 1)));
    if (found !== -1) return readStored(sessionId, () => replay(entries, states).state);
    if (page.length === 0) break;
  }
  // The steps before a fork are in the log of its source.
  const stored = await store.load(sessionId);
  const source = stored && readStored(sessionId, () => toFacts(stored.header).forkedFrom);
  const isBefore = source !== undefined && (execution < source.execution || (execution === source.execution && step <= source.step));
  if (isBefore) return readStateAfterStep(store, states, { ...at, sessionId: source.sessionId });
  throw new UnknownStepError(sessionId, at);
}
