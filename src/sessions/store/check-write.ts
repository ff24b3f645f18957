// Checks that every store makes alike, whatever it keeps sessions in. Writers of stores call these first.
import { cleanText, describeBrokenText, InvalidArgumentError, latestTime, quoteText } from '../../lib/index.ts';
import type {
  EffectQuery,
  EntryQuery,
  MailQuery,
  NoteQuery,
  NoteWrite,
  NewMail,
  SessionDeletion,
  SessionHeader,
  SessionQuery,
  SessionWrite,
} from './session-store.ts';

/** Creates the error for a write that a retry cannot fix. */
export const createWriteError = (sessionId: string, why: string): InvalidArgumentError =>
  new InvalidArgumentError(`Cannot write session "${sessionId}": ${why}. Nothing was written.`);

function refuse(sessionId: string, why: string): never {
  throw createWriteError(sessionId, why);
}

// A larger number is stored as another one.
function checkNumber(sessionId: string, name: string, value = 0): void {
  if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) refuse(sessionId, `${name} is ${value}`);
}

// Broken text would be stored as other text, and no longer match its checksum or be found.
function checkText(sessionId: string, name: string, text = ''): void {
  if (cleanText(text) !== text) refuse(sessionId, `${name} ${describeBrokenText(text).replace(/\.$/, '')}`);
}

function checkTime(sessionId: string, name: string, value = 0): void {
  if (!Number.isFinite(value) || Math.abs(value) > latestTime) refuse(sessionId, `${name} is ${value}, which is not a time`);
}

function checkEntries({ sessionId, after, entries = [] }: SessionWrite): void {
  const requests = new Set<string>();
  let expected = after;
  for (const { n, at, execution, step, lastSeq, requestId } of entries) {
    expected += 1;
    if (n !== expected) refuse(sessionId, `got entry ${n} instead of entry ${expected}`);
    checkTime(sessionId, 'at', at);
    checkNumber(sessionId, 'execution', execution);
    checkNumber(sessionId, 'step', step);
    checkNumber(sessionId, 'lastSeq', lastSeq);
    if (requestId === undefined) continue;
    checkText(sessionId, 'a request id', requestId);
    if (requests.has(requestId)) refuse(sessionId, `two of its entries answer the request "${requestId}"`);
    requests.add(requestId);
  }
}

function checkHeader(sessionId: string, header: SessionHeader): void {
  const { id, agentName, agentRelease, format, tenant, owner, tags, wakeAt, createdAt, updatedAt } = header;
  if (id !== sessionId) refuse(sessionId, `its header is that of "${id}"`);
  checkTime(sessionId, 'wakeAt', wakeAt);
  checkTime(sessionId, 'createdAt', createdAt);
  checkTime(sessionId, 'updatedAt', updatedAt);
  checkText(sessionId, 'its id', id);
  checkText(sessionId, 'its agent', agentName);
  checkText(sessionId, 'the release of its agent', agentRelease);
  checkNumber(sessionId, 'format', format);
  checkText(sessionId, 'its tenant', tenant);
  checkText(sessionId, 'its owner', owner);
  for (const tag of tags) checkText(sessionId, 'a tag', tag);
}

function checkRewrites({ sessionId, after, rewrites = [] }: SessionWrite): void {
  const numbers = new Set(rewrites.map(({ n }) => n));
  if (numbers.size < rewrites.length) refuse(sessionId, 'it has two texts for one entry');
  for (const n of numbers)
    if (!Number.isSafeInteger(n) || n < 1 || n > after) refuse(sessionId, `there is no entry ${n} to rewrite, only 1 to ${after}`);
}

/** Throws an `InvalidArgumentError` for a write that no store could keep. For authors of stores. */
export function checkWrite(write: SessionWrite): void {
  const { sessionId, after, header, entries = [], effects = [], lease, mail, dropsMail = [] } = write;
  if (!Number.isSafeInteger(after) || after < 0) refuse(sessionId, `after is ${after}, which is not the number of an entry`);
  if (after === 0 && (header === undefined || entries.length === 0)) refuse(sessionId, 'a new session needs a header and its first entry');
  if (!Number.isSafeInteger(lease.fence) || lease.fence < 0) refuse(sessionId, `its fence is ${lease.fence}, which is not a whole number`);
  if (header !== undefined) checkHeader(sessionId, header);
  for (const num of [...(mail === undefined ? [] : [mail.num]), ...dropsMail])
    if (!Number.isSafeInteger(num) || num < 1) refuse(sessionId, `${num} is not the number of a mail`);
  if (after === 0 && mail !== undefined) refuse(sessionId, 'a new session has no mail to answer');
  checkEntries(write);
  checkRewrites(write);
  for (const { key } of effects) checkText(sessionId, 'the key of an effect', key);
  if (effects.length < 2) return;
  const names = new Set(effects.map(({ key, phase }) => `${phase} ${key}`));
  if (names.size < effects.length) refuse(sessionId, 'it has two effects of one phase under the same key');
}

/** Throws an `InvalidArgumentError` for a deletion that no store could keep. */
export function checkDeletion({ sessionId, at }: SessionDeletion): void {
  checkText(sessionId, 'its id', sessionId);
  checkTime(sessionId, 'at', at);
}

/** Throws an `InvalidArgumentError` for a mail that no store could keep. */
export function checkMail({ sessionId, requestId, at }: NewMail): void {
  checkText(sessionId, 'its id', sessionId);
  checkText(sessionId, 'a request id', requestId);
  checkTime(sessionId, 'at', at);
}

/** Throws an `InvalidArgumentError` for a note that no store could keep. */
export function checkNote({ name, version, sessionId = '' }: NoteWrite): void {
  if (cleanText(name) !== name) throw new InvalidArgumentError(`The name of a note cannot be stored: it ${describeBrokenText(name)}`);
  if (cleanText(sessionId) !== sessionId)
    throw new InvalidArgumentError(`The session of note "${name}" cannot be stored: its id ${describeBrokenText(sessionId)}`);
  if (!Number.isSafeInteger(version) || version < 0)
    throw new InvalidArgumentError(`The version of note "${name}" must be a whole number of 0 or more, not ${version}.`);
}

/** Reads which notes are asked for. Throws an `InvalidArgumentError` if the query makes no sense. */
export const parseNoteQuery = ({ prefix, after = '', limit = 100 }: NoteQuery): Required<NoteQuery> => ({
  prefix,
  after,
  limit: parseLimit(limit),
});

export function parseLimit(limit: number): number {
  if (!Number.isSafeInteger(limit) || limit < 1) throw new InvalidArgumentError(`limit must be a whole number of 1 or more, not ${limit}.`);
  return limit;
}

/** Reads how many sessions to list, and the place that the cursor names. Throws an `InvalidArgumentError` if they make no sense. */
export function parsePage({ limit = 100, cursor }: SessionQuery): { readonly limit: number; readonly before?: number } {
  if (cursor === undefined) return { limit: parseLimit(limit) };
  if (!/^[1-9]\d{0,15}$/.test(cursor))
    throw new InvalidArgumentError(`Unknown cursor ${quoteText(cursor)}. Pass the cursor of the page before, unchanged.`);
  return { limit: parseLimit(limit), before: Number(cursor) };
}

/** Reads which entries of a log that ends at `head` are asked for. Throws an `InvalidArgumentError` if the query makes no sense. */
export function parseRange({ from = 1, to = Infinity, limit = 1000 }: EntryQuery, head: number): Required<Omit<EntryQuery, 'afterSeq'>> {
  if (Number.isNaN(from) || Number.isNaN(to))
    throw new InvalidArgumentError(`from and to must be numbers of entries, not ${from} and ${to}.`);
  return { from: Math.max(1, Math.ceil(from)), to: Math.min(head, Math.floor(to)), limit: parseLimit(limit) };
}

/** Reads which mails are asked for. Throws an `InvalidArgumentError` if the query makes no sense. */
export const parseMailQuery = <Query extends MailQuery>(query: Query): Query & { readonly limit: number } => ({
  ...query,
  limit: parseLimit(query.limit ?? 1000),
});

/** Reads which effects are asked for. Throws an `InvalidArgumentError` if the query makes no sense. */
export function parseEffectQuery({ prefix = '', skip = 0 }: EffectQuery): Required<EffectQuery> {
  if (!Number.isSafeInteger(skip) || skip < 0) throw new InvalidArgumentError(`skip must be a whole number of 0 or more, not ${skip}.`);
  return { prefix, skip };
}
