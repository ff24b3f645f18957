// Sessions of another process that were read a moment ago, so that the requests of one page do not decode a long session again and again.
// Owns:     the last few sessions that were read.
// Does not: watch the store: what is missing is read when somebody asks.
// J1. A session that is returned has every entry that was stored when it was asked for.
// J2. A session from which something was erased is never kept: its entries are stored anew without a change of their number.
import type { Clock } from '../../lib/index.ts';
import { readBody, readEntriesFrom, readStored, replay } from '../core/entries.ts';
import type { FindStates, ReadSession } from '../core/read-session.ts';
import { toReadSession } from '../core/read-session.ts';
import { toFacts } from '../core/session.ts';
import { UnknownSessionError } from '../core/errors.ts';
import type { LogEntry, SessionReader } from '../store/session-store.ts';

/** A session as it is stored, without the journal of its open step. */
export type KnownSession = Omit<ReadSession, 'effects'>;

interface KeptSession {
  /** The last read: settles with undefined if nothing of it is kept. */
  readonly reading: Promise<KnownSession | undefined>;
  /** Monotonic time at which it began. */
  readonly usedAt: number;
}

/** A session that was read, and whether it may be kept. */
interface ReadResult {
  readonly session: KnownSession;
  readonly canBeKept: boolean;
}

const maxKept = 8;
const keepMs = 10_000;

const isErasure = ({ isSnapshot, body }: LogEntry): boolean =>
  // A snapshot, which may be long, has no such action.
  !isSnapshot && body.includes('"erase"') && readBody(body).action?.type === 'erase';

interface RecentReadsOptions {
  readonly reader: SessionReader;
  readonly findStates: FindStates;
  readonly clock: Clock;
}

export class RecentReads {
  readonly #options: RecentReadsOptions;
  /** The one that was used last is the last one. */
  readonly #kept = new Map<string, KeptSession>();

  constructor(options: RecentReadsOptions) {
    this.#options = options;
  }

  /** Reads a session. Throws if there is none, or if it was deleted. */
  async read(sessionId: string): Promise<KnownSession> {
    const usedAt = this.#options.clock.monotonic();
    for (const [id, kept] of this.#kept) if (usedAt - kept.usedAt > keepMs) this.#kept.delete(id);
    const found = this.#readAfter(sessionId, this.#kept.get(sessionId)?.reading);
    const reading = found.then(
      ({ session, canBeKept }) => (canBeKept ? session : undefined),
      () => undefined,
    );
    this.#kept.delete(sessionId);
    this.#kept.set(sessionId, { reading, usedAt });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest);
    return (await found).session;
  }

  /** Reads what was stored since the read before this one, which may not have ended yet. */
  async #readAfter(sessionId: string, before: KeptSession['reading'] | undefined): Promise<ReadResult> {
    const known = await before;
    const session = known && (await this.#continue(sessionId, known));
    return session === undefined ? this.#readWhole(sessionId) : { session, canBeKept: true };
  }

  /** Adds what was stored since; undefined if the session has to be read as a whole. */
  async #continue(sessionId: string, known: KnownSession): Promise<KnownSession | undefined> {
    const { reader } = this.#options;
    const open = await reader.heads.read(sessionId);
    if (open === undefined || open.head < known.head) return undefined;
    const entries = open.head === known.head ? [] : await readEntriesFrom(reader, sessionId, known.head + 1);
    if (entries.some(isErasure)) return undefined;
    return readStored(sessionId, () => ({
      ...known,
      ...replay(entries, known.states, known),
      facts: toFacts(open.header),
      isOpen: open.header.isOpen,
      head: entries.at(-1)?.n ?? known.head,
    }));
  }

  async #readWhole(sessionId: string): Promise<ReadResult> {
    const { reader, findStates } = this.#options;
    const stored = await reader.log.load(sessionId);
    if (stored === undefined) throw new UnknownSessionError(sessionId);
    return { session: toReadSession(stored, findStates), canBeKept: !stored.entries.some(isErasure) };
  }
}
