// Events that could not be delivered.
// Owns:     the notes of dead letters, and of those that are to be sent again.
// Does not: keep the content of events: it is read again from the session, so that deleting and erasing hold for it too.
// K1. A letter goes with its session, and so does the wish to send it again: both are notes about it.
import { InvalidArgumentError, readObject } from '../../lib/index.ts';
import type { Notes } from '../store/session-store.ts';
import { isDeleted } from './behind-notes.ts';
import type { DeadLetter, DeadLetterQuery } from './delivery.ts';

/** Names of the notes of a delivery. */
export const toStateNote = (name: string): string => `delivery/${name}/state`;
export const toBehindNote = (name: string, sessionId: string): string => `delivery/${name}/behind/${sessionId}`;
const toLetterNote = (name: string, id: string): string => `delivery/${name}/dead/${id}`;
const toRetryNote = (name: string, id: string): string => `delivery/${name}/retry/${id}`;

function readLetter(text: string): DeadLetter {
  const data = readObject(JSON.parse(text), 'dead letter');
  const [tenant, owner] = [data.optionalString('tenant'), data.optionalString('owner')];
  return {
    id: data.string('id'),
    name: data.string('name'),
    sessionId: data.string('sessionId'),
    ...(tenant !== undefined && { tenant }),
    ...(owner !== undefined && { owner }),
    afterSeq: data.number('afterSeq'),
    lastSeq: data.number('lastSeq'),
    attempts: data.number('attempts'),
    error: data.string('error'),
    at: data.time('at'),
  };
}

async function removeNote(notes: Notes, name: string): Promise<void> {
  const note = await notes.read(name);
  if (note !== undefined) await notes.write({ name, version: note.version });
}

/** Keeps a dead letter; replaces the one with the same id. Returns false if its session was deleted: then nothing is kept. */
export async function putLetter(notes: Notes, letter: DeadLetter): Promise<boolean> {
  const { sessionId } = letter;
  const name = toLetterNote(letter.name, letter.id);
  const body = JSON.stringify(letter);
  try {
    for (;;) {
      const version = (await notes.read(name))?.version ?? 0;
      if (await notes.write({ name, version, body, sessionId })) return true;
    }
  } catch (error) {
    if (!isDeleted(error)) throw error;
    return false;
  }
}

export async function listLetters(notes: Notes, name: string, { after, limit = 100 }: DeadLetterQuery): Promise<readonly DeadLetter[]> {
  const place = after === undefined ? {} : { after: toLetterNote(name, after) };
  return (await notes.list({ prefix: toLetterNote(name, ''), limit, ...place })).map(({ body }) => readLetter(body));
}

/** Asks the process that delivers under the name to send a letter again. */
export async function askForRetry(notes: Notes, name: string, id: string): Promise<void> {
  const letter = await notes.read(toLetterNote(name, id));
  if (letter === undefined)
    throw new InvalidArgumentError(`There is no dead letter "${id}" of the delivery "${name}". Find the ids with deadLetters("${name}").`);
  const { sessionId } = readLetter(letter.body);
  await notes.write({ name: toRetryNote(name, id), version: 0, body: '{}', sessionId });
}

/** Lists the letters that are to be sent again. */
export async function listRetries(notes: Notes, name: string): Promise<readonly DeadLetter[]> {
  const prefix = toRetryNote(name, '');
  const letters: DeadLetter[] = [];
  for (const note of await notes.list({ prefix, limit: 20 })) {
    const letter = await notes.read(toLetterNote(name, note.name.slice(prefix.length)));
    if (letter === undefined) await removeNote(notes, note.name);
    else letters.push(readLetter(letter.body));
  }
  return letters;
}

/** Removes the wish to send a letter again, and the letter itself once it is delivered. */
export async function settleRetry(notes: Notes, { name, id }: DeadLetter, isDelivered: boolean): Promise<void> {
  if (isDelivered) await removeNote(notes, toLetterNote(name, id));
  await removeNote(notes, toRetryNote(name, id));
}
