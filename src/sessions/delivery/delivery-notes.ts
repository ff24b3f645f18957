// Notes of deliveries: their names, and how one is written or removed whatever it holds.
import type { Notes } from '../store/session-store.ts';
import { hasCode } from '../core/errors.ts';

/** Returns the name of a note of a delivery. */
export const toNoteName = (delivery: string, ...rest: readonly string[]): string => ['delivery', delivery, ...rest].join('/');

/** A note that goes with a session. */
interface SessionNote {
  readonly name: string;
  readonly sessionId: string;
  readonly body: string;
}

/** Writes a note about a session. Returns false if the session was deleted: then nothing is kept. */
export async function putNote(notes: Notes, note: SessionNote): Promise<boolean> {
  try {
    while (!(await notes.write({ ...note, version: (await notes.read(note.name))?.version ?? 0 }))) continue;
    return true;
  } catch (error) {
    if (!hasCode(error, 'session-deleted')) throw error;
    return false;
  }
}

export async function dropNote(notes: Notes, name: string): Promise<void> {
  for (let note = await notes.read(name); note !== undefined; note = await notes.read(name))
    if (await notes.write({ name, version: note.version })) return;
}
