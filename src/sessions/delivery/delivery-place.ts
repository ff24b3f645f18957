// Who delivers under a name, and the place in the feed that is stored there.
// Owns:     the note of the delivery: taking it, keeping it, and finding out that another has taken it; and the notes about sessions that are
//           behind, which go with their sessions.
// Does not: deliver anything, or decide who is behind.
// D1. The cursor stands after every commit that was delivered or skipped. A skipped commit belongs to a session that is behind, up to
//     `skippedSeq`: nothing before the cursor is forgotten.
// D2. A session that is behind gets its own events in order; it is behind no longer once everything that was skipped is delivered.
// H1. One process at a time holds a name. Each write of the note names the version before it, so that whoever has lost it is refused.
// H2. A holder whose process has certainly ended has lost it at once; one that writes nothing for `takeOverMs`, by the clock of the one that
//     waits, then.
// H3. A holder is sure of the name for less than `takeOverMs` after it began its last write that succeeded.
// H4. Sessions that are behind are noted before the cursor that has passed them, and forgotten after it: nothing is lost in between.
import type { Clock, ProcessIdentity } from '../../lib/index.ts';
import { isProcessGone, omitUndefined, readProcessIdentity, sleep } from '../../lib/index.ts';
import type { Notes } from '../store/session-store.ts';
import { dropNote, putNote, toNoteName } from './delivery-notes.ts';

/** A session whose receiver failed. */
export interface BehindSession {
  readonly sessionId: string;
  /** Number of its last event that was delivered. */
  readonly afterSeq: number;
  /** Number of its last event that the cursor has passed. */
  readonly skippedSeq: number;
  /** Failed attempts at its next commit. */
  readonly attempts: number;
  readonly retryAt: number;
  readonly error: string;
}

/** The text of the note. */
interface StoredPlace {
  readonly cursor?: string;
  /** The delivery in a process that holds the name; absent if none does. The id is different for each. */
  readonly holder?: ProcessIdentity & { readonly id: string };
}

// Holds: a delivery wrote them, and the store has checked that nothing was changed.
const readPlace = (text = '{}'): StoredPlace => JSON.parse(text) as StoredPlace;
const readBehind = (text: string): BehindSession => JSON.parse(text) as BehindSession;

export const beatMs = 2000;
const takeOverMs = 4 * beatMs;
const sureMs = 3 * beatMs;

/** More sessions than are ever behind: nothing more is read while too many are. */
const mostNotes = 1000;

interface PlaceServices {
  readonly notes: Notes;
  readonly clock: Clock;
  /** Different for each delivery in each process. */
  readonly id: string;
}

export class DeliveryPlace {
  readonly #services: PlaceServices;
  readonly #delivery: string;
  readonly #name: string;
  #behind = new Map<string, BehindSession>();
  /** Sessions as the notes about them have them. */
  #noted = new Map<string, BehindSession>();
  #cursor: string | undefined;
  #version = 0;
  #saving: Promise<boolean> = Promise.resolve(true);
  /** True if something has changed since it was last stored. */
  isDirty = false;
  /** Start of the last write that succeeded. */
  #savedAt = 0;

  constructor(services: PlaceServices, delivery: string) {
    this.#services = services;
    this.#delivery = delivery;
    this.#name = toNoteName(delivery, 'state');
  }

  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** Sessions that are behind, by their ids. */
  get behind(): ReadonlyMap<string, BehindSession> {
    return this.#behind;
  }

  moveTo(cursor: string): void {
    this.#cursor = cursor;
    this.isDirty = true;
  }

  /** Notes where a session stands. What the cursor has passed of it only grows; one that has caught up is behind no longer. */
  note(session: BehindSession): void {
    const { sessionId, afterSeq } = session;
    const skippedSeq = Math.max(session.skippedSeq, this.#behind.get(sessionId)?.skippedSeq ?? 0);
    this.#behind.delete(sessionId);
    if (afterSeq < skippedSeq) this.#behind.set(sessionId, { ...session, skippedSeq });
    this.isDirty = true;
  }

  /** Waits until this process holds the name. Continues where the one before stopped. */
  async take(signal: AbortSignal): Promise<void> {
    const { notes, clock, id } = this.#services;
    let [seen, since] = [-1, clock.monotonic()];
    for (;;) {
      signal.throwIfAborted();
      const { version = 0, body } = (await notes.read(this.#name)) ?? {};
      const { holder, cursor } = readPlace(body);
      if (version !== seen) [seen, since] = [version, clock.monotonic()];
      const isFree = holder === undefined || holder.id === id || isProcessGone(holder) || clock.monotonic() - since >= takeOverMs;
      [this.#cursor, this.#version] = [cursor, version];
      if (isFree && (await this.#tryWrite(cursor))) break;
      if (!isFree) await sleep(clock, beatMs / 2, signal);
    }
    this.#saving = Promise.resolve(true);
    const found = await notes.list({ prefix: toNoteName(this.#delivery, 'behind', ''), limit: mostNotes });
    this.#behind = new Map(found.map(({ body }) => readBehind(body)).map((session) => [session.sessionId, session]));
    this.#noted = new Map(this.#behind);
    this.isDirty = false;
  }

  /** Returns the time since the last write that succeeded. */
  getSilentMs(): number {
    return this.#services.clock.monotonic() - this.#savedAt;
  }

  /** Returns false if another process may have taken the name, as nothing was stored for too long. */
  isSure(): boolean {
    return this.getSilentMs() <= sureMs;
  }

  /** Stores the place; the last time, gives the name up. Returns false if another process has taken the name. */
  save({ isLast = false }: { readonly isLast?: boolean } = {}): Promise<boolean> {
    this.isDirty = false;
    this.#saving = this.#saving.catch(() => true).then((isHeld) => isHeld && this.#saveAll(isLast));
    return this.#saving;
  }

  async #saveAll(isLast: boolean): Promise<boolean> {
    const { notes, id } = this.#services;
    // As they are now: what changes while this is stored comes with the next save.
    const [cursor, behind] = [this.#cursor, new Map(this.#behind)];
    for (const [sessionId, session] of behind) {
      if (this.#noted.get(sessionId) === session) continue;
      if (await putNote(notes, { name: this.#toNote(sessionId), sessionId, body: JSON.stringify(session) }))
        this.#noted.set(sessionId, session);
      // It was deleted, and its note with it.
      else for (const known of [this.#behind, this.#noted]) known.delete(sessionId);
    }
    while (!(await this.#tryWrite(cursor, isLast))) {
      // An answer that was lost: the note may be the own one.
      const note = await notes.read(this.#name);
      if (note === undefined || readPlace(note.body).holder?.id !== id) return false;
      this.#version = note.version;
    }
    for (const sessionId of this.#noted.keys()) {
      if (behind.has(sessionId)) continue;
      await dropNote(notes, this.#toNote(sessionId));
      this.#noted.delete(sessionId);
    }
    return true;
  }

  async #tryWrite(cursor: string | undefined, isLast = false): Promise<boolean> {
    const { notes, clock, id } = this.#services;
    const startedAt = clock.monotonic();
    const place: StoredPlace = omitUndefined({ cursor, holder: isLast ? undefined : { ...readProcessIdentity(), id } });
    if (!(await notes.write({ name: this.#name, version: this.#version, body: JSON.stringify(place) }))) return false;
    this.#version += 1;
    this.#savedAt = startedAt;
    return true;
  }

  #toNote(sessionId: string): string {
    return toNoteName(this.#delivery, 'behind', sessionId);
  }
}
