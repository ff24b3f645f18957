// The store of a session during a turn.
import type { EntryQuery, LogEntry, SessionStore } from '../index.ts';
import type { EntryRange, TurnChange } from './protocol.ts';
import type { SessionImage } from './session-image.ts';

/** Parts of a turn that its store needs. */
export interface TurnAccess {
  readonly image: SessionImage;
  /** Settles when a change is safe. */
  readonly write: (change: TurnChange) => Promise<void>;
  /** Reads entries that are no longer part of the image. */
  readonly readOld: (sessionId: string, range: EntryRange) => Promise<readonly LogEntry[]>;
  /** Finds the entry that answered a request and is no longer part of the image. */
  readonly findOldRequest: (requestId: string) => Promise<LogEntry | undefined>;
}

const maxEntries = 1000;

const refuse = (): never => {
  throw new Error('The store of a turn has one session and nothing else.');
};

async function readEntries({ image, readOld }: TurnAccess, sessionId: string, query: EntryQuery): Promise<readonly LogEntry[]> {
  const { from = 1, to = image.head, limit = maxEntries, afterSeq } = query;
  const last = Math.min(to, image.head);
  const old = from < image.first ? await readOld(sessionId, { from, to: Math.min(last, image.first - 1, from + limit - 1) }) : [];
  const known = image.entries.filter(({ n }) => n >= from && n <= last);
  return [...old, ...known]
    .filter(({ lastSeq }) => afterSeq === undefined || (lastSeq !== undefined && lastSeq > afterSeq))
    .slice(0, limit);
}

/** Creates the store that the log of the session writes to. */
export function createTurnStore(access: TurnAccess): SessionStore {
  const { image } = access;
  return {
    load: async () => image.toStored(),
    entries: (sessionId, query = {}) => readEntries(access, sessionId, query),
    findRequest: async (_, requestId) =>
      image.entries.find((entry) => entry.requestId === requestId) ?? (image.first > 1 ? access.findOldRequest(requestId) : undefined),
    effects: async () => image.header && { header: image.header, head: image.head, effects: [...image.effects] },
    write: ({ sessionId: _, epoch: __, ...write }) => access.write({ type: 'write', ...write }),
    rewrite: ({ sessionId: _, epoch: __, ...rewrite }) => access.write({ type: 'rewrite', ...rewrite }),
    delete: ({ sessionId: _, epoch: __, ...deletion }) => access.write({ type: 'delete', ...deletion }),
    answerMail: ({ epoch: _, ...answer }) => access.write({ type: 'answer', ...answer }),
    // A request has one mail, which the turn is about to answer: no earlier one was answered.
    readMail: async ({ isWaiting } = {}) => (isWaiting === false ? [] : refuse()),
    watch: () => () => undefined,
    close: async () => undefined,
    ...{ list: refuse, feed: refuse, claim: refuse, readClaim: refuse, beat: refuse, release: refuse },
    ...{ post: refuse, putHold: refuse, dropHold: refuse, readHolds: refuse, quarantine: refuse },
    ...{ readNote: refuse, listNotes: refuse, writeNote: refuse },
  };
}
