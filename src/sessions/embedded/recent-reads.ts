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
  readonly session: KnownSession;
  /** Monotonic time of its last use. */
  readonly usedAt: number;
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
  readonly #loading = new Map<string, Promise<KnownSession | undefined>>();

  constructor(options: RecentReadsOptions) {
    this.#options = options;
  }

  /** Reads a session. Throws if there is none, or if it was deleted. */
  async read(sessionId: string): Promise<KnownSession> {
    const known = (await this.#loading.get(sessionId)) ?? this.#takeKept(sessionId);
    const current = known && (await this.#continue(sessionId, known));
    if (current === undefined) return this.#load(sessionId);
    this.#keep(sessionId, current);
    return current;
  }

  #takeKept(sessionId: string): KnownSession | undefined {
    const now = this.#options.clock.monotonic();
    for (const [id, { usedAt }] of this.#kept) if (now - usedAt > keepMs) this.#kept.delete(id);
    const kept = this.#kept.get(sessionId);
    this.#kept.delete(sessionId);
    return kept?.session;
  }

  #keep(sessionId: string, session: KnownSession): void {
    const before = this.#kept.get(sessionId)?.session;
    this.#kept.delete(sessionId);
    const newest = before !== undefined && before.head > session.head ? before : session;
    this.#kept.set(sessionId, { session: newest, usedAt: this.#options.clock.monotonic() });
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > maxKept && oldest !== undefined) this.#kept.delete(oldest);
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

  async #load(sessionId: string): Promise<KnownSession> {
    const loading = this.#readWhole(sessionId);
    const isKept = loading.then(
      ({ session, canBeKept }) => (canBeKept ? session : undefined),
      () => undefined,
    );
    this.#loading.set(sessionId, isKept);
    try {
      const { session, canBeKept } = await loading;
      if (canBeKept) this.#keep(sessionId, session);
      return session;
    } finally {
      if (this.#loading.get(sessionId) === isKept) this.#loading.delete(sessionId);
    }
  }

  async #readWhole(sessionId: string): Promise<{ readonly session: KnownSession; readonly canBeKept: boolean }> {
    const { reader, findStates } = this.#options;
    const stored = await reader.log.load(sessionId);
    if (stored === undefined) throw new UnknownSessionError(sessionId);
    return { session: toReadSession(stored, findStates), canBeKept: !stored.entries.some(isErasure) };
  }
}
