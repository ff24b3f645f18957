// What a store refuses whoever asks: writes that make no sense, texts that would not be found again.
import { InvalidArgumentError } from 'stepline';
import type { NewMail, NoteWrite, SessionDeletion, SessionHeader, SessionWrite } from 'stepline/sessions';

const latestTime = 8.64e15;

/** Refuses what a retry cannot mend. */
export function refuse(what: string): never {
  throw new InvalidArgumentError(`${what}. Nothing was written.`);
}

function checkTimes(times: Readonly<Record<string, number | undefined>>): void {
  for (const [name, time = 0] of Object.entries(times))
    if (!(Math.abs(time) <= latestTime)) refuse(`${name} is ${time}, which is not a time`);
}

function checkWhole(numbers: Readonly<Record<string, number | undefined>>, least = 0): void {
  for (const [name, value = least] of Object.entries(numbers))
    if (!Number.isSafeInteger(value) || value < least) refuse(`${name} is ${value}, which is not a whole number of ${least} or more`);
}

// JSON would keep half a character, but nobody can ask for such a text.
function checkTexts(texts: Readonly<Record<string, string | undefined>>): void {
  for (const [name, text = ''] of Object.entries(texts)) if (!text.isWellFormed()) refuse(`${name} has half a character in it`);
}

export function checkLimit(limit: number): number {
  checkWhole({ limit }, 1);
  return limit;
}

function checkHeader({ id, agentName, agentRelease, format, tenant, owner, tags, ...times }: SessionHeader): void {
  checkWhole({ format });
  checkTexts({ id, agentName, agentRelease, tenant, owner, tag: tags.find((tag) => !tag.isWellFormed()) });
  checkTimes({ createdAt: times.createdAt, updatedAt: times.updatedAt, wakeAt: times.wakeAt });
}

export function checkWrite({ sessionId, after, header, entries = [], rewrites = [], effects = [], lease, ...write }: SessionWrite): void {
  checkWhole({ after, fence: lease.fence });
  if (header !== undefined) checkHeader(header);
  if (header !== undefined && header.id !== sessionId) refuse(`The header is that of "${header.id}"`);
  if (after === 0 && (header === undefined || entries.length === 0)) refuse('A new session needs a header and its first entry');
  if (after === 0 && write.mail !== undefined) refuse('A new session has no mail');
  for (const num of [write.mail?.num ?? 1, ...(write.dropsMail ?? [])]) checkWhole({ mail: num }, 1);
  for (const [index, { n, at, requestId }] of entries.entries()) {
    if (n !== after + index + 1) refuse(`Entry ${n} does not follow entry ${after + index}`);
    checkTimes({ at });
    checkTexts({ requestId });
  }
  for (const { n } of rewrites) if (!(n >= 1 && n <= after)) refuse(`There is no entry ${n}`);
  for (const { key } of effects) checkTexts({ key });
  const requests = entries.flatMap(({ requestId }) => requestId ?? []);
  const lists = [rewrites.map(({ n }) => n), requests, effects.map(({ key, phase }) => `${phase} ${key}`)];
  if (lists.some((list) => new Set<unknown>(list).size < list.length)) refuse('It has two of the same');
}

export function checkMail({ requestId, at }: NewMail): void {
  checkTexts({ requestId });
  checkTimes({ at });
}

export function checkDeletion({ sessionId, at }: SessionDeletion): void {
  checkTexts({ sessionId });
  checkTimes({ at });
}

export function checkNote({ name, version, sessionId }: NoteWrite): void {
  checkTexts({ name, sessionId });
  checkWhole({ version });
}
