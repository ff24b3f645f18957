// Who delivers under a name, and the place that is stored there.
// Owns:     the note of the delivery: taking it, keeping it, and finding out that another has taken it; and the notes about sessions that are
//           behind.
// Does not: deliver anything.
// H1. One process at a time holds a name. Each write of the note names the version before it, so that whoever has lost it is refused.
// H2. A holder whose process has certainly ended has lost it at once; one that writes nothing for `takeOverMs`, by the clock of the one that
//     waits, then.
// H3. A holder is sure of the name for less than `takeOverMs` after it began its last write that succeeded.
// H4. Sessions that are behind are noted before the cursor that has passed them, and forgotten after it: nothing is lost in between.
import type { Clock } from '../../lib/index.ts';
import { isProcessGone, readProcessIdentity, sleep } from '../../lib/index.ts';
import type { Notes } from '../store/session-store.ts';
import { BehindNotes } from './behind-notes.ts';
import { toBehindNote, toStateNote } from './dead-letters.ts';
import type { DeliveryState } from './delivery-state.ts';
import { emptyState, readState, withoutSessions, writeState } from './delivery-state.ts';

export const beatMs = 2000;
const takeOverMs = 4 * beatMs;
const sureMs = 3 * beatMs;

interface LeaseServices {
  readonly notes: Notes;
  readonly clock: Clock;
  /** Different for each delivery in each process. */
  readonly id: string;
  /** Called with sessions that are behind and were deleted. */
  readonly onDeleted: (sessionIds: ReadonlySet<string>) => void;
}

export class DeliveryLease {
  readonly #services: LeaseServices;
  readonly #name: string;
  readonly #behind: BehindNotes;
  #version = 0;
  #saving: Promise<boolean> = Promise.resolve(true);
  /** Start of the last write that succeeded. */
  savedAt = 0;

  constructor(services: LeaseServices, name: string) {
    this.#services = services;
    this.#name = toStateNote(name);
    this.#behind = new BehindNotes(services.notes, toBehindNote(name, ''));
  }

  /** Waits until this process holds the name. Returns the state that the one before left. */
  async take(signal: AbortSignal): Promise<DeliveryState> {
    const { notes, clock, id } = this.#services;
    let [seen, since] = [-1, clock.monotonic()];
    for (;;) {
      signal.throwIfAborted();
      const note = await notes.read(this.#name);
      const { version = 0, body } = note ?? {};
      const state = body === undefined ? emptyState : readState(body);
      if (version !== seen) [seen, since] = [version, clock.monotonic()];
      const { holder } = state;
      const isFree = holder === undefined || holder.id === id || isProcessGone(holder) || clock.monotonic() - since >= takeOverMs;
      const taken: DeliveryState = { ...state, holder: { ...readProcessIdentity(), id } };
      const startedAt = clock.monotonic();
      if (isFree && (await notes.write({ name: this.#name, version, body: writeState(taken) }))) {
        this.#version = version + 1;
        this.#saving = Promise.resolve(true);
        this.savedAt = startedAt;
        return { ...taken, behind: await this.#behind.load() };
      }
      if (!isFree) await sleep(clock, beatMs / 2, signal);
    }
  }

  /** Returns false if another process may have taken the name, as nothing was stored for too long. */
  isSure(): boolean {
    return this.#services.clock.monotonic() - this.savedAt <= sureMs;
  }

  /** Stores the state. Returns false if another process has taken the name. */
  save(state: DeliveryState): Promise<boolean> {
    this.#saving = this.#saving.catch(() => true).then((isHeld) => isHeld && this.#saveAll(state));
    return this.#saving;
  }

  async #saveAll(state: DeliveryState): Promise<boolean> {
    const deleted = await this.#behind.put(state.behind);
    if (deleted.size > 0) this.#services.onDeleted(deleted);
    if (!(await this.#write(state))) return false;
    await this.#behind.dropOthers(withoutSessions(state, deleted).behind);
    return true;
  }

  async #write(state: DeliveryState): Promise<boolean> {
    const { notes, clock, id } = this.#services;
    const body = writeState(state);
    for (;;) {
      const startedAt = clock.monotonic();
      if (await notes.write({ name: this.#name, version: this.#version, body })) {
        this.#version += 1;
        this.savedAt = startedAt;
        return true;
      }
      // An answer that was lost: the note may be the own one.
      const note = await notes.read(this.#name);
      if (note === undefined || readState(note.body).holder?.id !== id) return false;
      this.#version = note.version;
    }
  }
}
