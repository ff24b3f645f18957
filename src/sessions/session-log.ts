// One session's log, as its only writer sees it.
// Owns:     the state at the head of the log, the actions that wait to be taken in, what the open step has done, and every write.
// Does not: run anything, or decide what an action means.
// O1. What is written follows the last entry; where a write fails, nothing more is written from here.
// O2. The state is what the log says, read from its last snapshot on.
// O3. A snapshot is written only at rest, and only when the changes since the last one are worth it.
import type { BaseEvent } from '../events/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { DamagedDataError, omitUndefined, SteplineError } from '../lib/index.ts';
import type { RunState, StateType, StepResult } from '../step-by-step/index.ts';
import type { Action } from './action.ts';
import type { EntryBody } from './entry-body.ts';
import { readBody, writeBody } from './entry-body.ts';
import { Journal } from '../journal/index.ts';
import type { SessionFacts } from './session.ts';
import { toFacts, hasWork, readDetails, getShownStatus, writeDetails } from './session.ts';
import { SessionDamagedError } from './session-damaged-error.ts';
import type { LogEntry, SessionHeader, SessionStore, StoredSession } from './session-store.ts';
import { writeEvents } from './stored-events.ts';

/** Where a log is written, and by whom. */
export interface LogHome {
  readonly store: SessionStore;
  readonly epoch: number;
  readonly now: () => number;
  /** When somebody has to look at a session in this state. */
  readonly wakeAt: (state: RunState) => number | undefined;
}

/** What is written with an entry. */
interface Appended {
  /** What the entry makes of the state. */
  readonly state?: RunState;
  readonly result?: StepResult | undefined;
  readonly events?: readonly BaseEvent[];
  readonly requestId?: string | undefined;
  /** True where the open step is recorded or parked. */
  readonly endsStep?: boolean;
}

/** The least that has to come together before another snapshot is worth its bytes. */
const leastSnapshotBytes = 256 * 1024;

/** What a session is made of. */
export interface NewLog {
  readonly facts: SessionFacts;
  readonly states: StateType;
  readonly state: RunState;
  /** How it came to be. */
  readonly action: Action;
}

/** An action that waits to be taken in. */
export interface QueuedAction {
  readonly action: Action;
  /** The execution that was under way when it came. */
  readonly execution: number;
}

/** What is read from the entries of a log. */
export interface Replayed {
  readonly state: RunState;
  /** Actions that wait to be taken in, by their entry. */
  readonly queued: ReadonlyMap<number, QueuedAction>;
}

/** Messages of the actions that an entry applies: its change refers to them, and does not repeat them. */
function getSentMessages({ action, isQueued, applied = [] }: EntryBody, queued: ReadonlyMap<number, QueuedAction>): readonly JsonObject[] {
  const actions = [isQueued === true ? undefined : action, ...applied.map((entry) => queued.get(entry)?.action)];
  return actions.flatMap((each) => (each?.type === 'send' ? [each.message] : []));
}

/** Adds the action that an entry queues, and removes those that it applies or drops. */
function updateQueue(
  queued: Map<number, QueuedAction>,
  entry: number,
  { action, isQueued, execution = 0, applied = [], refused = [] }: EntryBody,
): void {
  if (action !== undefined && isQueued === true) queued.set(entry, { action, execution });
  for (const done of [...applied, ...refused.map((each) => each.entry)]) queued.delete(done);
}

/** Reads entries, the first of which is a snapshot. */
export function replay(entries: readonly LogEntry[], states: StateType): Replayed {
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

/** Reads what a store gave. What the data is to blame for is damage; anything else is a fault of the reader, and no fault of the session. */
export function readStored<Value>(sessionId: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    const isDamage = error instanceof SyntaxError || (SteplineError.is(error) && error.code === 'damaged-data');
    throw isDamage ? new SessionDamagedError(sessionId, error.message, error) : error;
  }
}

export class SessionLog {
  readonly states: StateType;
  readonly journal: Journal;
  readonly queued: Map<number, QueuedAction>;
  facts: SessionFacts;
  readonly #home: LogHome;
  #state: RunState;
  /** The state as far as it is safe: nobody is shown what might be lost. */
  #safe: RunState;
  readonly #writing = new Set<Promise<void>>();
  #head: number;
  #safeHead = 0;
  #bytesSince = 0;
  #snapshotBytes = 0;

  private constructor(
    home: LogHome,
    parts: Replayed & { readonly facts: SessionFacts; readonly states: StateType; readonly head: number },
    effects: StoredSession['effects'],
  ) {
    this.#home = home;
    this.facts = parts.facts;
    this.states = parts.states;
    this.#state = parts.state;
    this.#safe = parts.state;
    this.#head = parts.head;
    this.queued = new Map(parts.queued);
    this.journal = new Journal(effects, (rows) =>
      this.#track(home.store.write({ sessionId: this.facts.id, epoch: home.epoch, after: this.#head, effects: rows })),
    );
  }

  /** Makes a session; settles when it is safe. */
  static async create(home: LogHome, { facts, states, state, action }: NewLog, requestId?: string): Promise<SessionLog> {
    const log = new SessionLog(home, { facts, states, state, head: 0, queued: new Map() }, []);
    await log.#write({ action, state: states.stringify(state) }, { state, requestId, isSnapshot: true });
    return log;
  }

  /** Takes up a stored session. */
  static from(home: LogHome, stored: StoredSession, states: StateType): SessionLog {
    const { header, entries, effects, head } = stored;
    return readStored(header.id, () => {
      const log = new SessionLog(home, { facts: toFacts(header), states, head, ...replay(entries, states) }, effects);
      for (const { isSnapshot, body } of entries) log.#count(isSnapshot, body.length);
      return log;
    });
  }

  get id(): string {
    return this.facts.id;
  }
  get state(): RunState {
    return this.#state;
  }
  /** The state as far as it is safe. */
  get safeState(): RunState {
    return this.#safe;
  }
  get isWriting(): boolean {
    return this.#writing.size > 0;
  }
  /** The number of the last entry. */
  get head(): number {
    return this.#head;
  }

  /** True where something is left to do without anybody's help. */
  get isOpen(): boolean {
    // A fork lies still until somebody does something with it.
    if (this.#head <= 1 && this.facts.forkedFrom !== undefined) return false;
    return hasWork(this.#state) || this.#state.data.owesEvents === true || this.queued.size > 0;
  }

  /** Writes an entry; settles when it is safe. The state stands at once. */
  async append(body: EntryBody, { state = this.#state, ...more }: Appended = {}): Promise<void> {
    const change = state === this.#state ? undefined : this.states.diff(this.#state, state, getSentMessages(body, this.queued));
    const isChanged = change !== undefined && Object.keys(change).length > 0;
    await this.#write({ ...body, ...(isChanged && { change }) }, { ...more, state, isSnapshot: false });
  }

  /** Rejects where another has written since, or may write now. */
  confirm(): Promise<void> {
    return this.#track(this.#home.store.write({ sessionId: this.id, epoch: this.#home.epoch, after: this.#head }));
  }

  /** Settles when nothing that was asked for is still being written. */
  async whenWritten(): Promise<void> {
    await Promise.allSettled([...this.#writing]);
  }

  /** Writes a snapshot where the changes since the last one are worth it. */
  async rest(): Promise<void> {
    const isWorthIt = this.#bytesSince >= Math.max(leastSnapshotBytes, this.#snapshotBytes);
    if (!isWorthIt || this.queued.size > 0 || !this.journal.isEmpty) return;
    await this.#write({ state: this.states.stringify(this.#state) }, { state: this.#state, isSnapshot: true });
  }

  #count(isSnapshot: boolean, bytes: number): void {
    if (isSnapshot) [this.#snapshotBytes, this.#bytesSince] = [bytes, 0];
    else this.#bytesSince += bytes;
  }

  /** Everything that may fail is done before anything has changed here. */
  #write(
    body: EntryBody,
    {
      state,
      result,
      events = [],
      requestId,
      endsStep = false,
      isSnapshot,
    }: Appended & { readonly state: RunState; readonly isSnapshot: boolean },
  ): Promise<void> {
    const { store, epoch, now } = this.#home;
    const [after, n, at] = [this.#head, this.#head + 1, now()];
    const text = writeBody(body);
    const lastSeq = events.at(-1)?.seq;
    const entry: LogEntry = omitUndefined({
      n,
      at,
      isSnapshot,
      execution: result && state.execution.number,
      step: result?.number,
      requestId,
      body: text,
      events: lastSeq === undefined ? undefined : writeEvents(events, result),
      lastSeq,
    });
    this.#head = n;
    this.#state = state;
    this.#count(isSnapshot, text.length);
    updateQueue(this.queued, n, body);
    if (endsStep) this.journal.clear();
    const write = { sessionId: this.id, epoch, after, header: this.#header(at), entries: [entry], clearsEffects: endsStep };
    return this.#track(store.write(write), state);
  }

  #track(writing: Promise<void>, safe?: RunState): Promise<void> {
    const head = this.#head;
    const done = writing.then(
      () => {
        this.#writing.delete(done);
        if (safe === undefined || head < this.#safeHead) return;
        this.#safe = safe;
        this.#safeHead = head;
      },
      (error: unknown) => {
        this.#writing.delete(done);
        throw error;
      },
    );
    // Whoever asked for it hears of it.
    done.catch(() => undefined);
    this.#writing.add(done);
    return done;
  }

  #header(updatedAt: number): SessionHeader {
    const { id, agent, tenant, owner, tags, createdAt } = this.facts;
    const { stopReason } = this.#state;
    return omitUndefined({
      id,
      agentId: agent.id,
      tags,
      status: getShownStatus(this.#state),
      isOpen: this.isOpen,
      createdAt,
      updatedAt,
      details: writeDetails(this.facts, this.states.kind, this.#state),
      tenant,
      owner,
      stopReason,
      wakeAt: this.#home.wakeAt(this.#state),
    });
  }
}

/** The kind of state that a stored session has. */
export const readKind = ({ header }: StoredSession): string => readStored(header.id, () => readDetails(header.details).kind);
