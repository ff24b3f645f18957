// One session's log, as its only writer sees it.
// Owns:     the state at the head of the log, the queued actions, the journal of the open step, and every write.
// Does not: run anything, or decide what an action means.
// O1. A write follows the last entry; after one that failed, nothing more is written from here.
// O2. The state is what the log says, read from its last snapshot on.
// O3. A snapshot is written only when nothing runs, and only if the changes since the last one are worth it.
import type { BaseEvent } from '../../events/index.ts';
import type { EffectRow } from '../../journal/index.ts';
import { Journal } from '../../journal/index.ts';
import type { Clock, JsonObject } from '../../lib/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import { WrongKindError } from '../../serialization/index.ts';
import type { AskedCall, RunState, StateType, StepResult } from '../../step-by-step/index.ts';
import type { Action } from '../core/action.ts';
import { readAskedCall } from '../core/approval-digest.ts';
import type { EntryBody, QueuedAction, ReplayedLog } from '../core/entries.ts';
import { findSentMessages, isUntouchedAfter, readStored, replay, updateQueue, writeBody, writeState } from '../core/entries.ts';
import type { ExpiryOptions } from '../core/expiry.ts';
import { getWakeAt } from '../core/expiry.ts';
import { isOpenRow, readOpenRow } from '../core/open-step.ts';
import { hasDue } from '../core/queue.ts';
import { RecoveryMarks } from './recovery-marks.ts';
import type { CoveredWait, SessionApproval } from '../core/session-approvals.ts';
import { findCoveredWait } from '../core/session-approvals.ts';
import type { SessionFacts } from '../core/session.ts';
import type { OpenStepPlace } from '../core/session-runtime.ts';
import { getShownStatus, hasWork, readHeader, readUnknownDetails, toFacts, writeDetails } from '../core/session.ts';
import type { LogEntry, SessionHeader, SessionReader, SessionStore, SessionWrite, StoredSession } from '../store/session-store.ts';
import { writeEvents } from '../core/stored-events.ts';

/** A store that this process has claimed, and what its writer needs beside it. */
export interface ClaimedStore {
  readonly store: SessionStore;
  readonly epoch: number;
  readonly clock: Clock;
  readonly approvals: ExpiryOptions | undefined;
}

/** Parts of an entry besides its body. */
export interface EntryParts {
  /** The state after the entry. @default the one before it */
  readonly state?: RunState;
  readonly result?: StepResult | undefined;
  readonly events?: readonly BaseEvent[];
  readonly requestId?: string | undefined;
  /** Number of the mail that the entry applies. */
  readonly mail?: number | undefined;
  /** Approvals for the rest of the session, if the entry changes them. */
  readonly approvals?: readonly SessionApproval[] | undefined;
  /** True if the open step is recorded or parked. */
  readonly endsStep?: boolean;
  /** True if the open step is to be resumed as if it never had been. */
  readonly restartsCount?: boolean;
  /** Entries that are written before it. The head is that of the last one. */
  readonly history?: readonly LogEntry[];
}

/** A session that is about to be created. */
export interface NewLog {
  readonly facts: SessionFacts;
  readonly states: StateType;
  readonly state: RunState;
  /** The action that creates it. */
  readonly action: Action;
  /** Entries that it begins with, and those among them whose actions were never applied. */
  readonly history?: { readonly entries: readonly LogEntry[]; readonly refused: NonNullable<EntryBody['refused']> };
}

type LoadedLog = Pick<NewLog, 'facts' | 'states'> & ReplayedLog & Pick<StoredSession, 'head' | 'effects'>;

/** The least number of bytes that makes another snapshot worth writing. */
const leastSnapshotBytes = 256 * 1024;

export class SessionLog {
  readonly claimed: ClaimedStore;
  readonly states: StateType;
  readonly journal: Journal;
  readonly queued: Map<number, QueuedAction>;
  /** Calls that the open step has asked a person to approve, by the id of the wait. */
  readonly asked: Map<string, AskedCall> = new Map();
  /** Waits that no earlier approval covers any more: the agent that is here cannot run their calls. */
  readonly uncovered: Set<string> = new Set();
  facts: SessionFacts;
  #state: RunState;
  #safeState: RunState;
  readonly #marks: RecoveryMarks;
  #wasLooping = false;
  #approvals: readonly SessionApproval[];
  #storedAttempt: OpenStepPlace | undefined;
  readonly #writing = new Set<Promise<void>>();
  #head: number;
  #safeHead = 0;
  #isUntouchedFork: boolean;
  #bytesSince = 0;
  #snapshotBytes = 0;
  #unknownDetails: JsonObject = {};

  private constructor(claimed: ClaimedStore, { facts, states, state, queued, approvals, isUntouchedFork, head, effects }: LoadedLog) {
    this.#approvals = approvals;
    this.claimed = claimed;
    this.facts = facts;
    this.states = states;
    this.#state = state;
    this.#safeState = state;
    this.queued = queued;
    this.#isUntouchedFork = isUntouchedFork;
    this.#head = head;
    this.#marks = new RecoveryMarks(effects);
    this.#storedAttempt = effects.filter(isOpenRow).flatMap(readOpenRow).at(-1);
    const rows = effects.filter((row) => !RecoveryMarks.isMark(row) && !isOpenRow(row));
    this.journal = new Journal(rows, (rows) => this.#write({ effects: rows }));
  }

  /** Creates a session; settles when it is safe. */
  static async create(
    claimed: ClaimedStore,
    { action, history = { entries: [], refused: [] }, ...parts }: NewLog,
    origin: Pick<EntryParts, 'requestId' | 'mail'> = {},
  ): Promise<SessionLog> {
    const { entries, refused } = history;
    const log = new SessionLog(claimed, {
      ...parts,
      queued: new Map(),
      approvals: [],
      isUntouchedFork: false,
      head: entries.length,
      effects: [],
    });
    const body = { action, state: writeState(parts.states, parts.state), ...(refused.length > 0 && { refused }) };
    await log.append(body, { ...origin, history: entries });
    return log;
  }

  /** Loads a stored session. */
  static load(claimed: ClaimedStore, { header, entries, effects, head }: StoredSession, states: StateType): SessionLog {
    return readStored(header.id, () => {
      const { kind } = readHeader(header);
      if (kind !== states.kind) throw new WrongKindError(states.kind, kind);
      const log = new SessionLog(claimed, { facts: toFacts(header), states, ...replay(entries, states), head, effects });
      log.#unknownDetails = readUnknownDetails(header);
      for (const { isSnapshot, body } of entries) log.#count(isSnapshot, body.length);
      return log;
    });
  }

  get reader(): SessionReader {
    return this.claimed.store;
  }
  get id(): string {
    return this.facts.id;
  }
  get state(): RunState {
    return this.#state;
  }
  /** The state as far as it is stored: nobody is shown what might be lost. */
  get safeState(): RunState {
    return this.#safeState;
  }
  get isWriting(): boolean {
    return this.#writing.size > 0;
  }
  /** The number of the last entry. */
  get head(): number {
    return this.#head;
  }

  /** Approvals for the rest of the session. */
  get approvals(): readonly SessionApproval[] {
    return this.#approvals;
  }

  /** True if something is left to do without anybody's help. */
  get isOpen(): boolean {
    if (this.#state.execution.crashLoop !== undefined) return false;
    // A fork does nothing until somebody acts on it.
    if (this.#isUntouchedFork) return false;
    return (
      hasWork(this.#state) ||
      this.#state.data.owesEvents === true ||
      hasDue(this.#state, this.queued) ||
      this.findCoveredWait() !== undefined
    );
  }

  /** Finds the first call that waits and is covered by an earlier approval, unless somebody has asked to revoke that. */
  findCoveredWait(): CoveredWait | undefined {
    const revoked = [...this.queued.values()].flatMap(({ action }) => (action.type === 'revoke' ? [action.approvalId] : []));
    const approvals = revoked.length === 0 ? this.#approvals : this.#approvals.filter(({ id }) => !revoked.includes(id));
    const waitingFor = this.#state.waitingFor.filter(({ id }) => !this.uncovered.has(id));
    return findCoveredWait(approvals, waitingFor, this.claimed.clock.now());
  }

  /** True if a process ended in the open step. */
  get isAfterCrash(): boolean {
    return this.#wasLooping || this.recoveries > 0;
  }
  /** Number of times that the open step was resumed after a crash. */
  get recoveries(): number {
    return this.#marks.attempts;
  }
  /** The number that this is if the open step is resumed now. */
  get nextRecovery(): number {
    return this.#marks.nextAttempt;
  }

  /** Number of marks of the open step: each process that resumes it adds one. */
  get marks(): number {
    return this.#marks.count;
  }
  /** The last attempt at the open step of which an earlier process has stored anything. */
  get storedAttempt(): OpenStepPlace | undefined {
    return this.#storedAttempt;
  }

  /** Stores text and events of the open step. */
  writeOpenStep(row: EffectRow): Promise<void> {
    return this.#write({ effects: [row] });
  }

  /** Stores that the open step is resumed. */
  takeUp(): Promise<void> {
    return this.#write({ effects: [this.#marks.takeUp()] });
  }

  /** Stores that the process ends in order: that the open step is resumed after that does not count. */
  leave(): Promise<void> {
    return this.#write({ effects: [this.#marks.leave()] });
  }

  /** Writes an entry; settles when it is safe. The state is the new one at once. An entry with a whole state is a snapshot. */
  async append(body: EntryBody, parts: EntryParts = {}): Promise<void> {
    const { state = this.#state, result, events = [], requestId, mail, endsStep = false, restartsCount = false, history = [] } = parts;
    // Everything that may fail is done before anything has changed here.
    const after = this.#head;
    const sent = findSentMessages(after + 1, body, this.queued);
    const messages = sent.map(({ message }) => message);
    const change = state === this.#state ? {} : this.states.diff(this.#state, state, messages);
    const { approvals = this.#approvals } = parts;
    const writesApprovals = approvals !== this.#approvals || (body.state !== undefined && approvals.length > 0);
    const whole: EntryBody = { ...body, ...(writesApprovals && { approvals }), ...(Object.keys(change).length > 0 && { change }) };
    const text = writeBody(whole);
    const lastSeq = events.at(-1)?.seq;
    const entry: LogEntry = omitUndefined({
      n: after + 1,
      at: this.claimed.clock.now(),
      isSnapshot: body.state !== undefined,
      execution: result && state.execution.number,
      step: result?.number,
      requestId,
      body: text,
      events: lastSeq === undefined ? undefined : writeEvents(events, { result, state, sent }),
      lastSeq,
    });
    this.#head = entry.n;
    this.#approvals = approvals;
    this.#state = state;
    this.#count(entry.isSnapshot, text.length);
    updateQueue(this.queued, entry.n, body);
    this.#isUntouchedFork = isUntouchedAfter(this.#isUntouchedFork, whole);
    if (endsStep) this.#clearStep();
    const effects = restartsCount ? [this.#marks.restart()] : [];
    if (restartsCount) this.#wasLooping = true;
    await this.#write({
      after: after - history.length,
      header: this.#toHeader(entry.at),
      entries: [...history, entry],
      effects,
      clearsEffects: endsStep,
      takesMail: mail === undefined ? [] : [mail],
    });
    if (entry.n < this.#safeHead) return;
    this.#safeState = state;
    this.#safeHead = entry.n;
  }

  /** Notes the call that an event of the open step asks about, if it does. */
  noteAsked(event: object): void {
    const call = readAskedCall(event);
    const { number: execution, pendingStep, results } = this.#state.execution;
    if (call !== undefined) this.asked.set(call.id, { ...call, execution, step: pendingStep?.number ?? results.length + 1 });
  }

  /** Rejects if another has written since, or may write now. */
  confirm(): Promise<void> {
    return this.#write({});
  }

  /** Settles when nothing is being written any more. */
  async whenWritten(): Promise<void> {
    await Promise.allSettled(this.#writing);
  }

  /** Writes a snapshot if the changes since the last one are worth it. */
  async compact(): Promise<void> {
    const isWorthIt = this.#bytesSince >= Math.max(leastSnapshotBytes, this.#snapshotBytes);
    if (!isWorthIt || this.queued.size > 0 || !this.journal.isEmpty) return;
    await this.append({ state: writeState(this.states, this.#state) });
  }

  #clearStep(): void {
    this.journal.clear();
    this.asked.clear();
    this.#marks.clear();
    this.#storedAttempt = undefined;
    this.#wasLooping = false;
  }

  #count(isSnapshot: boolean, bytes: number): void {
    if (isSnapshot) [this.#snapshotBytes, this.#bytesSince] = [bytes, 0];
    else this.#bytesSince += bytes;
  }

  async #write(write: Partial<SessionWrite>): Promise<void> {
    const { store, epoch } = this.claimed;
    const writing = store.log.write({ sessionId: this.id, epoch, after: this.#head, ...write });
    this.#writing.add(writing);
    try {
      await writing;
    } finally {
      this.#writing.delete(writing);
    }
  }

  #toHeader(updatedAt: number): SessionHeader {
    const { id, agent, tenant, owner, tags, createdAt } = this.facts;
    return omitUndefined({
      id,
      agentName: agent.id,
      tags,
      status: getShownStatus(this.#state),
      isOpen: this.isOpen,
      createdAt,
      updatedAt,
      details: writeDetails(this.facts, this.#state, { kind: this.states.kind, unknownFields: this.#unknownDetails }),
      tenant,
      owner,
      stopReason: this.#state.stopReason,
      wakeAt: getWakeAt(this.claimed.approvals, this.#state),
    });
  }
}
