// Checks that every store makes alike, whatever it keeps sessions in. Writers of stores call these first.
import { cleanText, describeBrokenText, InvalidArgumentError, latestTime } from '../lib/index.ts';
import type { EntryQuery, SessionQuery, SessionWrite } from './session-store.ts';

/** Creates the error for a write that a retry cannot fix. */
export const refusedWrite = (sessionId: string, why: string): InvalidArgumentError =>
  new InvalidArgumentError(`The write to session "${sessionId}" cannot be kept: ${why}.`);

function refuse(sessionId: string, why: string): never {
  throw refusedWrite(sessionId, why);
}

// A larger number is stored as another one.
function checkNumbers(sessionId: string, numbers: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value = 0] of Object.entries(numbers))
    if (!Number.isFinite(value) || Math.abs(value) > Number.MAX_SAFE_INTEGER) refuse(sessionId, `${name} is ${value}`);
}

// Broken text would be stored as other text, and no longer match its checksum or be found.
function checkTexts(sessionId: string, texts: Readonly<Record<string, string | undefined>>): void {
  for (const [name, text] of Object.entries(texts))
    if (text !== undefined && cleanText(text) !== text) refuse(sessionId, `${name} ${describeBrokenText(text).replace(/\.$/, '')}`);
}

function checkTimes(sessionId: string, times: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value = 0] of Object.entries(times))
    if (!Number.isFinite(value) || Math.abs(value) > latestTime) refuse(sessionId, `${name} is ${value}, which is not a time`);
}

function checkEntries({ sessionId, after, entries = [] }: SessionWrite): void {
  const requests = new Set<string>();
  for (const [index, { n, at, execution, step, lastSeq, requestId }] of entries.entries()) {
    if (n !== after + 1 + index) refuse(sessionId, `entry ${n} stands where entry ${after + 1 + index} belongs`);
    checkTimes(sessionId, { at });
    checkNumbers(sessionId, { execution, step, lastSeq });
    if (requestId === undefined) continue;
    checkTexts(sessionId, { 'a request id': requestId });
    if (requests.has(requestId)) refuse(sessionId, `two of its entries answer the request "${requestId}"`);
    requests.add(requestId);
  }
}

/** Throws an `InvalidArgumentError` for a write that no store could keep. For authors of stores. */
export function checkWrite(write: SessionWrite): void {
  const { sessionId, after, header, entries = [], effects = [] } = write;
  if (!Number.isSafeInteger(after) || after < 0) refuse(sessionId, `it follows entry ${after}`);
  if (after === 0 && (header === undefined || entries.length === 0))
    refuse(sessionId, 'a session is made with a header and its first entry');
  if (header !== undefined) {
    const { id, agentId, tenant, owner, tags, wakeAt, createdAt, updatedAt } = header;
    if (id !== sessionId) refuse(sessionId, `its header is that of "${id}"`);
    checkTimes(sessionId, { wakeAt, createdAt, updatedAt });
    checkTexts(sessionId, { 'its id': id, 'its agent': agentId, 'its tenant': tenant, 'its owner': owner });
    for (const tag of tags) checkTexts(sessionId, { 'a tag': tag });
  }
  checkEntries(write);
  for (const { key } of effects) checkTexts(sessionId, { 'the key of an effect': key });
  const names = new Set(effects.map(({ key, phase }) => `${phase} ${key}`));
  if (names.size < effects.length) refuse(sessionId, 'it has two effects of one phase under the same key');
}

function parseLimit(limit: number): number {
  if (!Number.isSafeInteger(limit) || limit < 1) throw new InvalidArgumentError(`A limit is a whole number from 1 on, not ${limit}.`);
  return limit;
}

/** Reads how many sessions to list, and the place that the cursor names. Throws an `InvalidArgumentError` if they make no sense. */
export function parsePage({ limit = 100, cursor }: SessionQuery): { readonly limit: number; readonly before?: number } {
  if (cursor === undefined) return { limit: parseLimit(limit) };
  if (!/^[1-9]\d{0,15}$/.test(cursor)) throw new InvalidArgumentError(`"${cursor}" is no cursor: pass one that a page gave.`);
  return { limit: parseLimit(limit), before: Number(cursor) };
}

/** Reads which entries of a log that ends at `head` are asked for. Throws an `InvalidArgumentError` if the query makes no sense. */
export function parseRange({ from = 1, to = Infinity, limit = 1000 }: EntryQuery, head: number): Required<Omit<EntryQuery, 'afterSeq'>> {
  if (Number.isNaN(from) || Number.isNaN(to)) throw new InvalidArgumentError('`from` and `to` are numbers of entries.');
  return { from: Math.max(1, Math.ceil(from)), to: Math.min(head, Math.floor(to)), limit: parseLimit(limit) };
}
