// Copying one session.
// S1. It is copied as it was at one moment, also while a worker runs it.
// S2. Until all of its log is there, it has nothing to do in the target: no worker takes a session that was copied in part.
import { jsonEquals, SteplineError } from '../../lib/index.ts';
import type { Lease, Mail, SessionHead, SessionHeader, SessionStore, SessionWrite, StoredSession } from '../../sessions/index.ts';

/** Entries that are read and written in one go. */
const pageSize = 200;

/** Most mails of one session. */
const mostMail = 1_000_000;

/** Times that a session is read again whose mailbox has changed meanwhile. */
const mostReads = 20;

/** Stores of a copy. */
export interface CopyStores {
  readonly source: SessionStore;
  readonly target: SessionStore;
}

/** A session as it was at one moment. */
export interface SessionMoment extends Pick<StoredSession, 'header' | 'head' | 'effects'> {
  readonly mail: readonly Mail[];
}

const isSame = (one: readonly object[], other: readonly object[]): boolean =>
  jsonEquals(
    one.map((row) => ({ ...row })),
    other.map((row) => ({ ...row })),
  );

const readMail = (store: SessionStore, sessionId: string): Promise<readonly Mail[]> => store.inbox.read({ sessionId, limit: mostMail });

/** Reads a session as it is at one moment. Returns undefined if there is no such session any more. */
export async function readMoment(source: SessionStore, sessionId: string): Promise<SessionMoment | undefined> {
  // Mail that is applied leaves the mailbox for the log: if none has come or gone, both are of the moment between.
  for (let mail = await readMail(source, sessionId), reads = 0; reads < mostReads; reads += 1) {
    const stored = await loadUndeleted(source, sessionId);
    if (stored === undefined) return undefined;
    const { header, head, effects } = stored;
    const after = await readMail(source, sessionId);
    if (isSame(mail, after)) return { header, head, effects, mail };
    mail = after;
  }
  throw new Error('actions came all the while; stop its worker, and repeat the copy');
}

async function loadUndeleted(source: SessionStore, sessionId: string): Promise<StoredSession | undefined> {
  try {
    return await source.log.load(sessionId);
  } catch (error) {
    if (SteplineError.is(error) && error.code === 'session-deleted') return undefined;
    throw error;
  }
}

/** Returns the header of a session that has nothing to do. */
const toClosed = ({ wakeAt: _, ...header }: SessionHeader): SessionHeader => ({ ...header, isOpen: false });

const toLease = (before: SessionHead | undefined): Lease => ({ worker: 'stepline copy', fence: before?.fence ?? 0, type: 'free' });

async function write(
  target: SessionStore,
  sessionId: string,
  task: Omit<SessionWrite, 'sessionId' | 'lease' | 'keepsLease'>,
): Promise<void> {
  const before = await target.heads.read(sessionId);
  await target.log.write({ ...task, sessionId, lease: toLease(before), keepsLease: false });
}

/** Copies what the target lacks of a session. */
export async function copySession({ source, target }: CopyStores, { header, head, effects, mail }: SessionMoment): Promise<void> {
  const { id } = header;
  const before = await target.log.load(id);
  const whole = { header, clearsEffects: true, effects };
  let after = before?.head ?? 0;
  // Complete but for what is kept beside its log: an earlier copy had a session that has moved no further.
  if (before?.head === head && !(jsonEquals({ ...before.header }, { ...header }) && isSame(before.effects, effects)))
    await write(target, id, { after, ...whole });
  while (after < head) {
    const entries = await source.log.entries(id, { from: after + 1, to: head, limit: pageSize });
    if (entries.length === 0) throw new Error(`entry ${after + 1} of ${head} is missing`);
    const isLast = after + entries.length === head;
    await write(target, id, { after, entries, ...(isLast ? whole : { header: toClosed(header) }) });
    after += entries.length;
  }
  if (before !== undefined) await dropApplied(target, id, after);
  for (const each of mail) await copyMail(target, each, after);
}

/** Removes mails that an earlier copy has posted, and whose actions are in the log by now. */
async function dropApplied(target: SessionStore, sessionId: string, after: number): Promise<void> {
  for (const { num, requestId } of await readMail(target, sessionId))
    if ((await target.log.findRequest(sessionId, requestId)) !== undefined) await write(target, sessionId, { after, mail: { num } });
}

/** Posts a mail; one that is there already is not added again. */
async function copyMail(target: SessionStore, { sessionId, requestId, at, body, reply }: Mail, after: number): Promise<void> {
  const posted = await target.inbox.post({ sessionId, requestId, at, body });
  if (posted === undefined || reply === undefined || posted.reply !== undefined) return;
  await write(target, sessionId, { after, mail: { num: posted.num, reply } });
}

/** Compares a session of the target with what was copied. Returns the difference, if there is one. */
export async function compareSession(
  { source, target }: CopyStores,
  { header, head, effects, mail }: SessionMoment,
): Promise<string | undefined> {
  const { id } = header;
  const found = await target.log.load(id);
  if (found === undefined) return 'it is not in the target';
  if (!jsonEquals({ ...header }, { ...found.header })) return 'its header differs';
  if (head !== found.head) return `its log has ${head} entries in the source and ${found.head} in the target`;
  if (!isSame(effects, found.effects)) return 'its open step differs';
  for (let from = 1; from <= head; from += pageSize) {
    const range = { from, to: Math.min(head, from + pageSize - 1), limit: pageSize };
    const [left, right] = [await source.log.entries(id, range), await target.log.entries(id, range)];
    if (!isSame(left, right)) return `its entries ${range.from} to ${range.to} differ`;
  }
  return compareMail(target, mail);
}

async function compareMail(target: SessionStore, mail: readonly Mail[]): Promise<string | undefined> {
  for (const { sessionId, requestId, body, reply } of mail) {
    const [found] = await target.inbox.read({ sessionId, requestId });
    if (found?.body !== body || found.reply !== reply) return `its mail ${requestId} differs`;
  }
  return undefined;
}
