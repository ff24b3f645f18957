import { describe } from 'vitest';
import type { Breaking } from '../../tests/support/broken-stores.ts';
import { testSuite, withChange } from '../../tests/support/broken-stores.ts';
import { noteChecks } from './session-store-notes.ts';

const broken: Readonly<Record<string, Breaking>> = {
  'keeps a note, and counts the times that it was written': withChange((store) => ({
    notes: {
      ...store.notes,
      read: async (name) => {
        const note = await store.notes.read(name);
        return note && { ...note, version: 1 };
      },
    },
  })),
  'writes no note whose version is another': withChange((store) => ({
    notes: {
      ...store.notes,
      write: async (note) => store.notes.write({ ...note, version: (await store.notes.read(note.name))?.version ?? 0 }),
    },
  })),
  'removes a note': withChange((store) => ({
    notes: { ...store.notes, write: (note) => (note.body === undefined ? Promise.resolve(true) : store.notes.write(note)) },
  })),
  'lists notes by the start of their names': withChange((store) => ({
    notes: { ...store.notes, list: ({ after: _, ...query }) => store.notes.list(query) },
  })),
  // It keeps the note, and not what it is about.
  'removes the notes about a session with it, and takes no more of them': withChange((store) => ({
    notes: { ...store.notes, write: ({ sessionId: _, ...note }) => store.notes.write(note) },
  })),
  'ties a note to a session that it did not name before': withChange((store) => ({
    notes: {
      ...store.notes,
      write: async (note) =>
        ((await store.notes.read(note.name))?.sessionId === note.sessionId || note.version === 0) && store.notes.write(note),
    },
  })),
  'refuses a note that makes no sense': withChange((store) => ({
    notes: { ...store.notes, write: (note) => store.notes.write(note).catch(() => false) },
  })),
};

describe('the cases of notes', () => testSuite(noteChecks, broken));
