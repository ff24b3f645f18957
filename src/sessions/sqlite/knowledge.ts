// Facts about the file that the store need not read again.
// G3. They are kept only as long as no other connection has written, and this one has not changed leases.
import type { KnownSession } from '../index.ts';
import type { Knowledge, PlannedBatch } from '../table/index.ts';
import type { Connection } from './connection.ts';

// Enough for every session that is running; with more, they are read again.
const mostKnown = 10_000;

/** Facts about a file. Asked and changed inside its transactions. */
export class FileKnowledge implements Knowledge {
  readonly sessions: Map<string, KnownSession> = new Map();
  readonly workers: Set<string> = new Set();
  /** Changes when another connection has written. */
  #dataVersion = -1;

  forget(): void {
    this.#dataVersion = -1;
    this.sessions.clear();
    this.workers.clear();
  }

  /** Forgets what another connection may have changed. */
  refresh(db: Connection): void {
    const dataVersion = readDataVersion(db);
    if (dataVersion === this.#dataVersion) return;
    this.forget();
    this.#dataVersion = dataVersion;
  }

  /** Forgets what a change of leases by this connection has made wrong. */
  forgetLeases(sessionIds: readonly string[]): void {
    for (const id of sessionIds) this.sessions.delete(id);
    this.workers.clear();
  }

  /** Learns what a batch has left, once it is committed. */
  learn({ deleted, known, workers }: PlannedBatch): void {
    for (const id of deleted) this.sessions.delete(id);
    if (this.sessions.size + known.size > mostKnown) this.sessions.clear();
    for (const [id, session] of known) this.sessions.set(id, session);
    for (const { id } of workers) this.workers.add(String(id));
  }
}

/** Returns a number that changes when another connection has written. */
export const readDataVersion = (db: Connection): number => Number(db.get('PRAGMA data_version')?.['data_version']);
