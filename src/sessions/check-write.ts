// What every store refuses alike, whatever it keeps sessions in. Writers of stores call these first.
import type { EffectRow } from '../journal/index.ts';
import { InvalidArgumentError } from '../lib/index.ts';
import type { EntryQuery, LogEntry, SessionHeader, SessionQuery, SessionWrite } from './session-store.ts';

/** The error of a write that no reading again can help. */
export const refusedWrite = (sessionId: string, why: string): InvalidArgumentError =>
  new InvalidArgumentError(`The write to session "${sessionId}" cannot be kept: ${why}.`);

function refuse(sessionId: string, why: string): never {
  throw refusedWrite(sessionId, why);
}

// Beyond it a number is stored as another one.
const isStorable = (value: number): boolean => Number.isFinite(value) && Math.abs(value) <= Number.MAX_SAFE_INTEGER;

function checkNumbers(sessionId: string, numbers: Readonly<Record<string, number | undefined>>): void {
  for (const [name, value] of Object.entries(numbers)) {
    if (value !== undefined && !isStorable(value)) refuse(sessionId, `${name} is ${value}`);
  }
}

function checkHeader(sessionId: string, header: SessionHeader): void {
  if (header.id !== sessionId) refuse(sessionId, `its header is that of "${header.id}"`);
  const { wakeAt, createdAt, updatedAt } = header;
  checkNumbers(sessionId, { wakeAt, createdAt, updatedAt });
}

function checkEntries({ sessionId, after }: SessionWrite, entries: readonly LogEntry[]): void {
  const requests = new Set<string>();
  for (const [index, { n, at, execution, step, lastSeq, requestId }] of entries.entries()) {
    if (n !== after + 1 + index) refuse(sessionId, `entry ${n} stands where entry ${after + 1 + index} belongs`);
    checkNumbers(sessionId, { at, execution, step, lastSeq });
    if (requestId === undefined) continue;
    if (requests.has(requestId)) refuse(sessionId, `two of its entries answer the request "${requestId}"`);
    requests.add(requestId);
  }
}

function checkEffects(sessionId: string, effects: readonly EffectRow[]): void {
  const names = new Set(effects.map(({ key, phase }) => `${phase} ${key}`));
  if (names.size < effects.length) refuse(sessionId, 'it has two effects of one phase under the same key');
}

/** Refuses what no store could keep, whatever stands in it. For those who write a store; throws an `InvalidArgumentError`. */
export function checkWrite(write: SessionWrite): void {
  const { sessionId, after, header, entries = [], effects = [] } = write;
  if (!Number.isSafeInteger(after) || after < 0) refuse(sessionId, `it follows entry ${after}`);
  if (after === 0 && (header === undefined || entries.length === 0)) {
    refuse(sessionId, 'a session is made with a header and its first entry');
  }
  if (header !== undefined) checkHeader(sessionId, header);
  checkEntries(write, entries);
  checkEffects(sessionId, effects);
}

function parseLimit(limit: number): number {
  if (!Number.isSafeInteger(limit) || limit < 1) throw new InvalidArgumentError(`A limit is a whole number from 1 on, not ${limit}.`);
  return limit;
}

/** How many sessions to list, and the place that the cursor names. Throws an `InvalidArgumentError` where they make no sense. */
export function parsePage({ limit = 100, cursor }: SessionQuery): { readonly limit: number; readonly before?: number } {
  if (cursor === undefined) return { limit: parseLimit(limit) };
  if (!/^[1-9]\d{0,15}$/.test(cursor)) throw new InvalidArgumentError(`"${cursor}" is no cursor: pass one that a page gave.`);
  return { limit: parseLimit(limit), before: Number(cursor) };
}

/** Which entries of a log that ends at `head` are asked for. Throws an `InvalidArgumentError` where the question makes no sense. */
export function parseRange(
  { from = 1, to = Infinity, limit = 1000 }: EntryQuery,
  head: number,
): { readonly from: number; readonly to: number; readonly limit: number } {
  if (Number.isNaN(from) || Number.isNaN(to)) throw new InvalidArgumentError('`from` and `to` are numbers of entries.');
  return { from: Math.max(1, Math.ceil(from)), to: Math.min(head, Math.floor(to)), limit: parseLimit(limit) };
}
