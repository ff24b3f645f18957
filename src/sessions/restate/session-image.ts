// A session as one turn sees it.
// Owns:     the data stored under the session's object, and the changes that are not stored or reported yet.
// Does not: know Restate, or run anything. It is computed from the stored data and the rows of this turn.
// I1. The same rows make the same image, in every attempt and on every worker.
import type { EffectRow } from '../../journal/index.ts';
import { omitUndefined } from '../../lib/index.ts';
import type { LogEntry, SessionHeader, StoredSession } from '../index.ts';
import { isOpenRow } from '../index.ts';
import { cutBySize, measureChange, measureEntries } from './change-size.ts';
import type { TurnChange } from './protocol.ts';

/** The small part of a session that every turn reads. Entries are stored separately, in chunks. */
export interface KeptHead {
  readonly head: number;
  readonly header?: SessionHeader;
  /** Number of the first entry of each chunk, from the one with the last snapshot on. */
  readonly chunks: readonly number[];
  /** Numbers of the last mails that were taken. */
  readonly taken: readonly number[];
  /** Rows of a step that is open. */
  readonly effects: readonly EffectRow[];
  /** Time for which a wake-up was last scheduled. */
  readonly wakeAt?: number;
  /** Number of turns in a row that could not do their work. */
  readonly failedTurns?: number;
  /** Set if the desk has mails that earlier turns could not apply. */
  readonly keepsMails?: boolean;
  readonly deletedAt?: number;
}

/** Changes to the data stored under the object. */
export interface KeptChange {
  readonly head: KeptHead;
  readonly chunks: ReadonlyMap<number, readonly LogEntry[]>;
  /** Numbers of entries that answer a request and that later turns do not read, by the id of the request. */
  readonly requests: ReadonlyMap<string, number>;
}

/** A mail is given to a session soon after it was posted, or with its own turn right after: older numbers need not be known. */
const maxTaken = 500;

/** Bytes up to which entries of several turns share a chunk. */
const chunkSize = 64 * 1024;

/** Bytes from which on entries, or changes to report, are cut into several: a server takes 32 MiB, and quotes in a text take two bytes. */
const maxPart = 8 * 1024 * 1024;

export class SessionImage {
  head: number;
  header: SessionHeader | undefined;
  /** From the first known chunk on. */
  entries: LogEntry[];
  effects: EffectRow[];
  taken: number[];
  wakeAt: number | undefined;
  failedTurns: number;
  keepsMails: boolean;
  deletedAt: number | undefined;
  #chunks: number[];
  /** The first entry that is not stored yet. */
  #unkept: number;
  /** Chunks with entries that were rewritten. */
  readonly #dirty = new Set<number>();
  /** Changes of this turn that the desk needs. */
  readonly #reports: TurnChange[] = [];
  #confirmed = 0;

  constructor(kept: KeptHead | undefined, entries: readonly LogEntry[]) {
    this.head = kept?.head ?? 0;
    this.header = kept?.header;
    this.entries = [...entries];
    this.effects = [...(kept?.effects ?? [])];
    this.taken = [...(kept?.taken ?? [])];
    this.wakeAt = kept?.wakeAt;
    this.failedTurns = kept?.failedTurns ?? 0;
    this.keepsMails = kept?.keepsMails ?? false;
    this.deletedAt = kept?.deletedAt;
    this.#chunks = [...(kept?.chunks ?? [])];
    this.#unkept = this.head + 1;
  }

  /** Number of the first entry that is known here. */
  get first(): number {
    return this.entries[0]?.n ?? this.head + 1;
  }

  /** Number of changes of this turn that the desk needs. */
  get reportCount(): number {
    return this.#reports.length;
  }
  /** Number of these that the desk has confirmed. */
  get confirmedCount(): number {
    return this.#confirmed;
  }
  get hasUnreported(): boolean {
    return this.#reports.length > this.#confirmed;
  }

  hasTaken(num: number): boolean {
    return this.taken.includes(num);
  }

  /** The session as it is loaded to continue it; undefined if there is none. */
  toStored(): StoredSession | undefined {
    if (this.header === undefined) return undefined;
    const snapshot = this.entries.findLastIndex(({ isSnapshot }) => isSnapshot);
    return { header: this.header, head: this.head, entries: this.entries.slice(Math.max(0, snapshot)), effects: [...this.effects] };
  }

  apply(change: TurnChange): void {
    if (isReported(change)) this.#reports.push(change);
    switch (change.type) {
      case 'write':
        this.#write(change);
        break;
      case 'rewrite':
        if (change.header !== undefined) this.header = change.header;
        for (const each of change.entries) this.#rewrite(each);
        break;
      case 'delete':
        this.#delete(change.at);
        break;
      case 'answer':
        this.#take([change.num]);
        break;
    }
  }

  #write({ header, entries = [], effects = [], clearsEffects = false, takesMail = [] }: Extract<TurnChange, { type: 'write' }>): void {
    if (header !== undefined) this.header = header;
    this.entries.push(...entries);
    this.head = entries.at(-1)?.n ?? this.head;
    if (clearsEffects) this.effects = [];
    this.effects.push(...effects);
    this.#take(takesMail);
  }

  #rewrite({ n, body, events }: Pick<LogEntry, 'n' | 'body' | 'events'>): void {
    const index = this.entries.findIndex((entry) => entry.n === n);
    const before = this.entries[index];
    if (before === undefined) return;
    const { events: _, ...rest } = before;
    this.entries[index] = { ...rest, body, ...omitUndefined({ events }) };
    const chunk = this.#chunks.findLast((from) => from <= n);
    if (n < this.#unkept && chunk !== undefined) this.#dirty.add(chunk);
  }

  #delete(at: number): void {
    this.deletedAt ??= at;
    this.header = undefined;
    this.wakeAt = undefined;
    [this.head, this.entries, this.effects, this.#chunks, this.#unkept] = [0, [], [], [], 1];
    this.#dirty.clear();
  }

  #take(mails: readonly number[]): void {
    this.taken = [...this.taken, ...mails].slice(-maxTaken);
  }

  /** Returns the changes that the desk has not confirmed, in parts that fit into a message each. */
  listUnreported(): { readonly parts: readonly (readonly TurnChange[])[]; readonly upTo: number } {
    return { parts: toReports(this.#reports.slice(this.#confirmed)), upTo: this.#reports.length };
  }

  /** Notes that the desk has these changes. */
  confirmReported(upTo: number): void {
    this.#confirmed = Math.max(this.#confirmed, upTo);
  }

  /** Returns all changes of this turn that the desk needs, confirmed or not: the same in every attempt. */
  listReports(): readonly (readonly TurnChange[])[] {
    return toReports(this.#reports);
  }

  /** Returns the changes that were not stored yet, and marks them as stored. */
  takeKept(): KeptChange {
    const chunks = new Map<number, readonly LogEntry[]>();
    if (this.#unkept <= this.head) {
      const last = this.#chunks.at(-1);
      const grows = last !== undefined && measureEntries(this.#slice(last, this.head)) <= chunkSize;
      if (grows) this.#chunks.pop();
      for (const part of cutBySize(this.#slice(grows ? last : this.#unkept, this.head), maxPart, (entry) => measureEntries([entry]))) {
        const from = part[0]?.n ?? 0;
        this.#chunks.push(from);
        chunks.set(from, part);
      }
    }
    for (const from of this.#dirty) {
      const next = this.#chunks.find((other) => other > from) ?? this.head + 1;
      if (!chunks.has(from)) chunks.set(from, this.#slice(from, next - 1));
    }
    this.#dirty.clear();
    this.#unkept = this.head + 1;
    this.#dropOldChunks();
    const { head, header, taken, effects, wakeAt, deletedAt, failedTurns } = this;
    const kept: KeptHead = {
      ...omitUndefined({ head, header, chunks: [...this.#chunks], taken, effects, wakeAt, deletedAt }),
      ...(failedTurns > 0 && { failedTurns }),
      ...(this.keepsMails && { keepsMails: true }),
    };
    return { head: kept, chunks, requests: this.#listOldRequests() };
  }

  /** A turn reads from the chunk with the last snapshot on. */
  #dropOldChunks(): void {
    const snapshot = this.entries.findLast(({ isSnapshot }) => isSnapshot)?.n ?? this.first;
    const keep = this.#chunks.findLastIndex((from) => from <= snapshot);
    this.#chunks = this.#chunks.slice(Math.max(0, keep));
  }

  /** Lists the requests that later turns do not find among their entries. */
  #listOldRequests(): ReadonlyMap<string, number> {
    const [first = this.head + 1] = this.#chunks;
    return new Map(this.entries.flatMap(({ requestId, n }) => (requestId !== undefined && n < first ? [[requestId, n] as const] : [])));
  }

  #slice(from: number, to: number): readonly LogEntry[] {
    return this.entries.slice(from - this.first, to - this.first + 1);
  }
}

/** True if a change is more than the journal of an open step. */
const isReported = (change: TurnChange): boolean =>
  change.type !== 'write' || change.header !== undefined || change.clearsEffects === true || (change.effects ?? []).some(isOpenRow);

/** Turns changes into reports. Readers see the text of an open step, not its journal. */
function toReports(changes: readonly TurnChange[]): readonly (readonly TurnChange[])[] {
  const shown = changes.map((change) =>
    change.type === 'write' ? { ...change, effects: (change.effects ?? []).filter(isOpenRow) } : change,
  );
  return cutBySize(shown, maxPart, measureChange).map(mergeChanges);
}

/** Merges consecutive writes into one. */
export function mergeChanges(changes: readonly TurnChange[]): readonly TurnChange[] {
  const merged: TurnChange[] = [];
  for (const change of changes) {
    const last = merged.at(-1);
    if (change.type !== 'write' || last?.type !== 'write') merged.push(change);
    else merged[merged.length - 1] = mergeWrites(last, change);
  }
  return merged;
}

type WriteChange = Extract<TurnChange, { type: 'write' }>;

function mergeWrites(one: WriteChange, other: WriteChange): WriteChange {
  const clearsEffects = other.clearsEffects === true;
  return omitUndefined({
    type: 'write' as const,
    after: one.after,
    header: other.header ?? one.header,
    entries: [...(one.entries ?? []), ...(other.entries ?? [])],
    // What is cleared by the second need never be kept.
    effects: [...(clearsEffects ? [] : (one.effects ?? [])), ...(other.effects ?? [])],
    clearsEffects: clearsEffects || one.clearsEffects === true,
    takesMail: [...(one.takesMail ?? []), ...(other.takesMail ?? [])],
  });
}
