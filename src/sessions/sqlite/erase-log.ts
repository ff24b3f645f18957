// Removing deleted text from the write-ahead log.
// E1. In the database, deleted text is overwritten by the transaction that deletes it (secure_delete).
// E2. The transaction, and older copies of the pages that it changed, are in the write-ahead log until a checkpoint. It is made at once, and
//     the log cut to nothing: when a deletion settles, the text is in neither file.
// E3. While another connection reads what was there before, the log cannot be cut. It is tried again every second, and when the store is
//     closed; then the text is gone soon after the last such reader. After a crash in between, the next worker that joins
//     does it.
// E4. Text that a build without secure_delete has removed, backups, and blocks of the disk that the file has given back are out of reach.
import type { Clock } from '../../lib/index.ts';
import type { Connection } from './connection.ts';

const retryAfterMs = 1000;

export interface LogEraser {
  /** Cuts the log, or tries again later. */
  readonly erase: (db: Connection) => void;
  /** Tries for the last time. */
  readonly close: (db: Connection) => void;
}

export function createLogEraser(clock: Clock): LogEraser {
  let cancel: (() => void) | undefined;

  function isCut(db: Connection): boolean {
    try {
      return db.get('PRAGMA wal_checkpoint(TRUNCATE)')?.['busy'] === 0;
    } catch {
      return false;
    }
  }

  function erase(db: Connection): void {
    cancel?.();
    cancel = undefined;
    if (!isCut(db)) cancel = clock.schedule(retryAfterMs, () => erase(db), true);
  }

  return {
    erase,
    close: (db) => {
      if (cancel === undefined) return;
      cancel();
      isCut(db);
    },
  };
}
