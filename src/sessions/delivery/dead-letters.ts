// Events that could not be delivered.
// Owns:     the notes of dead letters, and of those that are to be sent again.
// Does not: keep the content of events: it is read again from the session, so that deleting and erasing hold for it too.
// K1. A letter goes with its session, and so does the wish to send it again: both are notes about it.
import { InvalidArgumentError } from '../../lib/index.ts';
import type { Notes } from '../store/session-store.ts';
import type { DeadLetter, DeadLetterQuery } from './delivery.ts';
import { dropNote, putNote, toNoteName } from './delivery-notes.ts';

const toLetterNote = (name: string, id: string): string => toNoteName(name, 'dead', id);
const toRetryNote = (name: string, id: string): string => toNoteName(name, 'retry', id);

// Holds: a delivery wrote it, and the store has checked that nothing was changed.
const readLetter = ({ body }: { readonly body: string }): DeadLetter => JSON.parse(body) as DeadLetter;

/** Keeps a dead letter; replaces the one with the same id. Returns false if its session was deleted: then nothing is kept. */
export const putLetter = (notes: Notes, letter: DeadLetter): Promise<boolean> =>
  putNote(notes, { name: toLetterNote(letter.name, letter.id), sessionId: letter.sessionId, body: JSON.stringify(letter) });

export async function listLetters(notes: Notes, name: string, { after, limit = 100 }: DeadLetterQuery): Promise<readonly DeadLetter[]> {
  const place = after === undefined ? {} : { after: toLetterNote(name, after) };
  return (await notes.list({ prefix: toLetterNote(name, ''), limit, ...place })).map(readLetter);
}

/** Asks the process that delivers under the name to send a letter again. */
export async function askForRetry(notes: Notes, name: string, id: string): Promise<void> {
  const letter = await notes.read(toLetterNote(name, id));
  if (letter === undefined)
    throw new InvalidArgumentError(`There is no dead letter "${id}" of the delivery "${name}". Find the ids with deadLetters("${name}").`);
  await putNote(notes, { name: toRetryNote(name, id), sessionId: readLetter(letter).sessionId, body: '{}' });
}

/** Lists the letters that are to be sent again. */
export async function listRetries(notes: Notes, name: string): Promise<readonly DeadLetter[]> {
  const prefix = toRetryNote(name, '');
  const letters: DeadLetter[] = [];
  for (const retry of await notes.list({ prefix, limit: 20 })) {
    const letter = await notes.read(toLetterNote(name, retry.name.slice(prefix.length)));
    if (letter === undefined) await dropNote(notes, retry.name);
    else letters.push(readLetter(letter));
  }
  return letters;
}

/** Removes the wish to send a letter again, and the letter itself once it is delivered. */
export async function settleRetry(notes: Notes, { name, id }: DeadLetter, isDelivered: boolean): Promise<void> {
  if (isDelivered) await dropNote(notes, toLetterNote(name, id));
  await dropNote(notes, toRetryNote(name, id));
}
