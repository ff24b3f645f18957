// One session's log, as its only writer sees it.
// Owns:     the state at the head of the log, the queued actions, the journal of the open step, the lease, and every write.
// Does not: run anything, or decide what an action means.
// O1. A write follows the last entry; after one that failed, nothing more is written from here.
// O4. The first write to a session that nobody owns takes the lease; the one after which nothing is left to do gives it up.
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
import { toRelease } from '../core/agents.ts';
import { readAskedCall } from '../core/approval-digest.ts';
import type { EntryBody, QueuedAction, ReplayedLog } from '../core/entries.ts';
import {
  findSentMessages,
  isUntouchedAfter,
  readStored,
  replay,
  storedFormat,
  updateQueue,
  writeBody,
  writeState,
} from '../core/entries.ts';
import type { ExpiryOptions } from '../core/expiry.ts';
import { getWakeAt } from '../core/expiry.ts';
import { isOpenRow, readOpenRow } from '../core/open-step.ts';
import { hasDue } from '../core/queue.ts';
import type { CoveredWait, SessionApproval } from '../core/session-approvals.ts';
import { findCoveredWait } from '../core/session-approvals.ts';
import type { SessionFacts } from '../core/session.ts';
import type { OpenStepPlace } from '../core/session-runtime.ts';
import { getShownStatus, hasWork, readHeader, readUnknownDetails, toFacts, writeDetails } from '../core/session.ts';
import type {
  ClaimedSession,
  Lease,
  LogEntry,
  SessionHeader,
  SessionReader,
  SessionStore,
  SessionWrite,
  StoredSession,
} from '../store/session-store.ts';
import { writeEvents } from '../core/stored-events.ts';
import type { StoreWatcher } from './store-watcher.ts';

/** Services of the process that a writer needs. */
export interface LogServices {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly approvals: ExpiryOptions | undefined;
  readonly watcher: StoreWatcher;
  /** Id of the worker. It changes when others have taken this one for gone. */
  readonly workerId: string;
  /** Mail waits for a session. */
  onMail(log: SessionLog): void;
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
  /** True if mail that waits comes first: the entry is refused then. */
  readonly isBehindMail?: boolean;
  /** False if this process cannot run the session now: whoever has room claims it. @default true */
  readonly canRun?: boolean;
  /** New texts for earlier entries, and mails to remove, such as those that hold a message to be erased. */
  readonly rewrites?: SessionWrite['rewrites'];
  readonly dropsMail?: SessionWrite['dropsMail'];
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

type LoadedLog = Pick<NewLog, 'facts' | 'states'> & ReplayedLog & Pick<StoredSession, 'head' | 'fence' | 'attempts' | 'worker' | 'effects'>;

/** The least number of bytes that makes another snapshot worth writing. */
const leastSnapshotBytes = 256 * 1024;

export class SessionLog {
  readonly services: LogServices;
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
  #fence: number;
  /** Id of the worker that owns the session; undefined if nobody in this process does. */
  #owner: string | undefined;
  /** The fence that the last entry was written with. */
  #entryFence: number;
  #attempts = 0;
  #isStepping = false;
  #wasLooping = false;
  #approvals: readonly SessionApproval[];
  #storedAttempt: OpenStepPlace | undefined;
  /** Worker that owned the session when it was loaded, unless that was for this process. */
  worker: string | undefined;
  readonly #writing = new Set<Promise<void>>();
  #head: number;
  #safeHead = 0;
  #isUntouchedFork: boolean;
  #bytesSince = 0;
  #snapshotBytes = 0;
  #unknownDetails: JsonObject = {};
  #updatedAt = 0;
  /** Time at which somebody looks at the session, as it is stored. */
  #wakeAt: number | undefined;
  /** True if the store says that something is left to do. */
  #isStoredOpen = false;

  private constructor(services: LogServices, loaded: LoadedLog) {
    const { facts, states, state, queued, approvals, isUntouchedFork, head, fence, attempts, effects } = loaded;
    this.#attempts = attempts;
    this.worker = loaded.worker;
    this.#approvals = approvals;
    this.services = services;
    this.#fence = fence;
    this.#entryFence = fence;
    this.facts = facts;
    this.states = states;
    this.#state = state;
    this.#safeState = state;
    this.queued = queued;
    this.#isUntouchedFork = isUntouchedFork;
    this.#head = head;
    this.#storedAttempt = effects.filter(isOpenRow).flatMap(readOpenRow).at(-1);
    const rows = effects.filter((row) => !isOpenRow(row));
    this.journal = new Journal(rows, (rows) => this.#write({ effects: rows }));
  }

  /** Creates a session; settles when it is safe. */
  static async create(
    services: LogServices,
    { action, history = { entries: [], refused: [] }, ...parts }: NewLog,
    origin: Pick<EntryParts, 'requestId'> = {},
  ): Promise<SessionLog> {
    const { entries, refused } = history;
    const log = new SessionLog(services, {
      ...parts,
      ...{ queued: new Map(), approvals: [], isUntouchedFork: false, head: entries.length, fence: 0, attempts: 0, effects: [] },
    });
    const body = { action, state: writeState(parts.states, parts.state), ...(refused.length > 0 && { refused }) };
    await log.append(body, { ...origin, history: entries });
    return log;
  }

  /** Loads a stored session. */
  static load(services: LogServices, { header, entries, effects, ...stored }: StoredSession, states: StateType): SessionLog {
    return readStored(header.id, () => {
      const { kind, entryFence } = readHeader(header);
      if (kind !== states.kind) throw new WrongKindError(states.kind, kind);
      const log = new SessionLog(services, { facts: toFacts(header), states, ...replay(entries, states), ...stored, effects });
      log.#entryFence = entryFence;
      log.#unknownDetails = readUnknownDetails(header);
      log.#updatedAt = header.updatedAt;
      log.#wakeAt = header.wakeAt;
      log.#isStoredOpen = header.isOpen;
      for (const { isSnapshot, body } of entries) log.#count(isSnapshot, body.length);
      return log;
    });
  }

  get reader(): SessionReader {
    return this.services.store;
  }
  /** True if this process owns the session. */
  get isOwned(): boolean {
    return this.#owner !== undefined;
  }
  /** The fence that the next write has to know. */
  get fence(): number {
    return this.#fence;
  }

  /** True if the log is as a claim has found it: nobody else has owned the session since it was written from here. */
  isCurrent({ fence, head }: Pick<ClaimedSession, 'fence' | 'head'>): boolean {
    return this.#owner === undefined && (fence === this.#fence || fence === this.#fence + 1) && head === this.#head;
  }

  /** Notes that the session was claimed for this process. */
  own({ fence, attempts }: Pick<ClaimedSession, 'fence' | 'attempts'>): void {
    this.#fence = fence;
    this.#owner = this.services.workerId;
    this.worker = undefined;
    this.#attempts = attempts;
    this.#isStepping = false;
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

  /** True if the execution has something left to do. A fork has nothing until somebody acts on it. */
  get hasWork(): boolean {
    return !this.#isUntouchedFork && hasWork(this.#state);
  }

  /** Finds the first call that waits and is covered by an earlier approval, unless somebody has asked to revoke that. */
  findCoveredWait(): CoveredWait | undefined {
    const revoked = [...this.queued.values()].flatMap(({ action }) => (action.type === 'revoke' ? [action.approvalId] : []));
    const approvals = revoked.length === 0 ? this.#approvals : this.#approvals.filter(({ id }) => !revoked.includes(id));
    const waitingFor = this.#state.waitingFor.filter(({ id }) => !this.uncovered.has(id));
    return findCoveredWait(approvals, waitingFor, this.services.clock.now());
  }

  /** True if a worker was lost in the open step. */
  get isAfterCrash(): boolean {
    return this.#wasLooping || this.#attempts > 0;
  }
  /** Number of workers that were lost in the open step. */
  get attempts(): number {
    return this.#attempts;
  }
  /** Number of times that the open step was resumed after that, without the attempt that may be in progress. */
  get recoveries(): number {
    return Math.max(0, this.#attempts - 1);
  }
  /** Number of owners that have resumed the open step; 0 for the one that began it. */
  get ownersSince(): number {
    // The fence grows when one loses it, and when the next one gets it.
    return Math.ceil((this.#fence - this.#entryFence) / 2);
  }
  /** The last attempt at the open step of which an earlier process has stored anything. */
  get storedAttempt(): OpenStepPlace | undefined {
    return this.#storedAttempt;
  }

  /** Stores text and events of the open step. */
  writeOpenStep(row: EffectRow): Promise<void> {
    return this.#write({ effects: [row] });
  }

  /** Stores that the loss of this process counts as an attempt at the open step, unless that is stored. */
  async markStepping(): Promise<void> {
    if (!this.#isStepping) await this.#write({ isStepping: true });
    this.#isStepping = true;
  }

  /** Time at which the session is to be claimed, although nothing is left to do. */
  get wakeAt(): number | undefined {
    return this.#wakeAt;
  }

  /** Stores another time for that. */
  async wakeLater(time: number): Promise<void> {
    this.#wakeAt = time;
    await this.#write({ header: { ...this.#toHeader(), wakeAt: time } });
  }

  /** Gives the session up, with nothing left to do here. */
  async rest(): Promise<void> {
    // A call that an earlier approval covers may need a tool that is gone: nobody is to claim the session because of it.
    if (this.#owner !== undefined) await this.#write({ keepsLease: false, ...(this.#isStoredOpen && { header: this.#toHeader() }) });
  }

  /** Answers a mail without an entry: refuses it, or, without a reply, says that it was applied before. */
  answerMail(num: number, reply?: string): Promise<void> {
    return this.#write({ mail: { num, ...(reply !== undefined && { reply }) } });
  }

  /** Writes an entry; settles when it is safe. The state is the new one at once. An entry with a whole state is a snapshot. */
  async append(body: EntryBody, parts: EntryParts = {}): Promise<void> {
    const { state = this.#state, result, events = [], requestId, mail, endsStep = false, restartsCount = false, history = [] } = parts;
    const { isBehindMail = false, canRun = true, rewrites, dropsMail } = parts;
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
      at: this.services.clock.now(),
      isSnapshot: body.state !== undefined,
      execution: result && state.execution.number,
      step: result?.number,
      requestId,
      body: text,
      events: lastSeq === undefined ? undefined : writeEvents(events, whole),
      lastSeq,
    });
    this.#head = entry.n;
    this.#approvals = approvals;
    this.#state = state;
    this.#count(entry.isSnapshot, text.length);
    updateQueue(this.queued, entry.n, body);
    this.#isUntouchedFork = isUntouchedAfter(this.#isUntouchedFork, whole);
    if (endsStep) this.#clearStep();
    if (restartsCount) [this.#wasLooping, this.#attempts] = [true, 0];
    const keepsLease = this.isOpen && canRun;
    const lease = this.#takeLease(keepsLease);
    this.#entryFence = this.#fence;
    this.#isStepping = keepsLease;
    this.#updatedAt = entry.at;
    this.#wakeAt = getWakeAt(this.services.approvals, state);
    await this.#write(
      omitUndefined({
        ...{ after: after - history.length, header: this.#toHeader(), entries: [...history, entry], rewrites, dropsMail },
        ...{ clearsEffects: endsStep, resetsAttempts: restartsCount, isBehindMail, isStepping: true, keepsLease },
        mail: mail === undefined ? undefined : { num: mail },
      }),
      lease,
    );
    this.services.watcher.announce(this.id);
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
    this.#attempts = 0;
    this.#storedAttempt = undefined;
    this.#wasLooping = false;
  }

  #count(isSnapshot: boolean, bytes: number): void {
    if (isSnapshot) [this.#snapshotBytes, this.#bytesSince] = [bytes, 0];
    else this.#bytesSince += bytes;
  }

  /** Returns the lease for a write, which is that of the next one as soon as this one is asked for. */
  #takeLease(keepsLease: boolean): Lease {
    const { workerId } = this.services;
    const lease: Lease = { worker: this.#owner ?? workerId, fence: this.#fence, type: this.#owner === undefined ? 'free' : 'held' };
    if (lease.type === 'free') this.#fence += 1;
    this.#owner = keepsLease ? lease.worker : undefined;
    return lease;
  }

  async #write(write: Partial<SessionWrite>, lease: Lease = this.#takeLease(write.keepsLease ?? true)): Promise<void> {
    const { store } = this.services;
    const writing = store.log.write({ sessionId: this.id, lease, keepsLease: true, after: this.#head, ...write });
    const settled = writing.then(
      () => undefined,
      () => undefined,
    );
    this.#writing.add(settled);
    try {
      const { hasMail } = await writing;
      if (hasMail) this.services.onMail(this);
    } finally {
      this.#writing.delete(settled);
    }
  }

  #toHeader(): SessionHeader {
    this.#isStoredOpen = this.isOpen;
    const { id, agent, tenant, owner, tags, createdAt } = this.facts;
    return omitUndefined({
      id,
      agentName: agent.id,
      agentRelease: toRelease(agent),
      format: storedFormat,
      tags,
      status: getShownStatus(this.#state),
      isOpen: this.#isStoredOpen,
      createdAt,
      updatedAt: this.#updatedAt,
      details: writeDetails(this.facts, this.#state, {
        ...{ kind: this.states.kind, entryFence: this.#entryFence, unknownFields: this.#unknownDetails },
      }),
      tenant,
      owner,
      stopReason: this.#state.stopReason,
      wakeAt: this.#wakeAt,
    });
  }
}
