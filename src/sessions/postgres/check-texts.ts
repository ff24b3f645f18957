// Texts that Postgres cannot keep. Stores check these before anything is sent.
import { cleanText, InvalidArgumentError } from '../../lib/index.ts';
import type { NoteWrite, SessionHeader, StoreTask } from '../index.ts';
import { getSessionId, createWriteError } from '../index.ts';

// An index of Postgres holds no longer text.
const longestFoundBy = 2000;

/** True for text that Postgres gives back as it is. */
export const isStorable = (text: unknown): boolean => typeof text === 'string' && cleanText(text) === text;

type NamedText = readonly [string, unknown];

interface Texts {
  /** Texts that are only stored. */
  readonly stored: readonly NamedText[];
  /** Texts that something is found by. */
  readonly foundBy: readonly (string | undefined)[];
}

const listHeader = (header: SessionHeader | undefined): Texts => ({
  stored: header === undefined ? [] : [['its details', header.details]],
  foundBy: [header?.agentName, header?.tenant, header?.owner, ...(header?.tags ?? [])],
});

const listEntries = (entries: readonly { readonly n: number; readonly body: string; readonly events?: string }[]): readonly NamedText[] =>
  entries.flatMap(({ n, body, events = '' }) => [[`the body of entry ${n}`, body] as const, [`the events of entry ${n}`, events] as const]);

function listTexts(task: StoreTask): Texts {
  if (task.type === 'write') {
    const { header, entries = [], rewrites = [], effects = [], lease, mail } = task.write;
    const { stored, foundBy } = listHeader(header);
    const bodies = effects.map(({ key, body }) => [`the body of effect "${key}"`, body] as const);
    const others: readonly NamedText[] = [
      ['its worker', lease.worker],
      ['the reply to its mail', mail?.reply ?? ''],
    ];
    return {
      stored: [...stored, ...listEntries([...rewrites, ...entries]), ...bodies, ...others],
      foundBy: [...foundBy, lease.worker, ...entries.map(({ requestId }) => requestId)],
    };
  }
  if (task.type === 'post') return { stored: [['the body of its mail', task.mail.body]], foundBy: [task.mail.requestId] };
  return { stored: [], foundBy: [] };
}

const isLonger = (text: string, bytes: number): boolean => text.length > bytes / 4 && Buffer.byteLength(text) > bytes;

const cannotStore = 'has characters that Postgres cannot store (NUL, or half of a surrogate pair), or is not text';

/** Throws for texts of a task that Postgres cannot keep. */
export function checkTexts(task: StoreTask): void {
  const sessionId = getSessionId(task);
  if (task.type === 'quarantine') return;
  const { stored, foundBy } = listTexts(task);
  const texts: readonly NamedText[] = [['its id', sessionId], ...stored];
  const broken = texts.find(([, text]) => !isStorable(text));
  if (broken !== undefined) throw createWriteError(sessionId, `${broken[0]} ${cannotStore}`);
  const long = [sessionId, ...foundBy].find((text = '') => isLonger(text, longestFoundBy));
  if (long !== undefined)
    throw createWriteError(sessionId, `"${long.slice(0, 40)}…" is longer than ${longestFoundBy} bytes, and sessions are found by it`);
}

/** Throws for a note that Postgres cannot keep. */
export function checkNoteTexts({ name, sessionId, body }: NoteWrite): void {
  if ([name, sessionId, body].some((each) => each !== undefined && !isStorable(each)))
    throw new InvalidArgumentError(`Note "${name}" has characters that Postgres cannot store.`);
}
