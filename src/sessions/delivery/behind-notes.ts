// The notes about sessions that a delivery is behind with: one for each, which goes with its session.
// Owns:     the notes, and what they held when they were last written.
// Does not: decide who is behind.
import { SteplineError } from '../../lib/index.ts';
import type { Notes } from '../store/session-store.ts';
import type { BehindSession } from './delivery-state.ts';
import { readBehind } from './delivery-state.ts';

const pageSize = 100;

interface WrittenNote {
  readonly version: number;
  readonly session: BehindSession;
}

export const isDeleted = (error: unknown): boolean => SteplineError.is(error) && error.code === 'session-deleted';

export class BehindNotes {
  readonly #notes: Notes;
  readonly #prefix: string;
  readonly #written = new Map<string, WrittenNote>();

  constructor(notes: Notes, prefix: string) {
    this.#notes = notes;
    this.#prefix = prefix;
  }

  /** Reads all of them. */
  async load(): Promise<readonly BehindSession[]> {
    this.#written.clear();
    let after = this.#prefix;
    for (;;) {
      const notes = await this.#notes.list({ prefix: this.#prefix, after, limit: pageSize });
      for (const { version, body } of notes) {
        const session = readBehind(JSON.parse(body), 'behind');
        this.#written.set(session.sessionId, { version, session });
      }
      const last = notes.at(-1);
      if (last === undefined) return [...this.#written.values()].map(({ session }) => session);
      after = last.name;
    }
  }

  /** Writes what has changed of these sessions. Returns those that were deleted. */
  async put(behind: readonly BehindSession[]): Promise<ReadonlySet<string>> {
    const deleted = new Set<string>();
    for (const session of behind) {
      if (this.#written.get(session.sessionId)?.session === session) continue;
      try {
        await this.#write(session);
      } catch (error) {
        if (!isDeleted(error)) throw error;
        deleted.add(session.sessionId);
        this.#written.delete(session.sessionId);
      }
    }
    return deleted;
  }

  /** Removes the notes about all other sessions. */
  async dropOthers(behind: readonly BehindSession[]): Promise<void> {
    const kept = new Set(behind.map(({ sessionId }) => sessionId));
    for (const [sessionId, { version }] of this.#written) {
      if (kept.has(sessionId)) continue;
      const name = this.#toName(sessionId);
      for (let known: number | undefined = version; known !== undefined; known = (await this.#notes.read(name))?.version)
        if (await this.#notes.write({ name, version: known })) break;
      this.#written.delete(sessionId);
    }
  }

  async #write(session: BehindSession): Promise<void> {
    const { sessionId } = session;
    const name = this.#toName(sessionId);
    const body = JSON.stringify(session);
    let version = this.#written.get(sessionId)?.version ?? 0;
    // Another version is one whose answer was lost, or one that another process wrote before it lost the name.
    while (!(await this.#notes.write({ name, version, body, sessionId }))) version = (await this.#notes.read(name))?.version ?? 0;
    this.#written.set(sessionId, { version: version + 1, session });
  }

  #toName(sessionId: string): string {
    return `${this.#prefix}${sessionId}`;
  }
}
