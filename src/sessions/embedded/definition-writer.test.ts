import { expect, test } from 'vitest';
import type { AgentDefinition } from '../../inference/index.ts';
import type { Notes } from '../store/session-store.ts';
import { DefinitionWriter } from './definition-writer.ts';

const define = (model: string): AgentDefinition => ({
  ...{ agent: { id: 'desk', fingerprint: model }, model, driver: 'tool-calling' },
  ...{ instructions: ['Help.'], tools: [], settings: {} },
});

/** Notes that fail as many times as they are told to. */
function createNotes(failures = 0) {
  const names: string[] = [];
  let left = failures;
  const write: Notes['write'] = async ({ name }) => {
    await Promise.resolve();
    left -= 1;
    if (left >= 0) throw new Error('the disk is full');
    names.push(name);
    return true;
  };
  return { names, notes: { write } };
}

test('sessions that start at once store a definition once', async () => {
  const { names, notes } = createNotes();
  const writer = new DefinitionWriter(notes);
  const id = writer.define(define('m/one'));
  await Promise.all([writer.flush(), writer.flush(), writer.flush()]);
  expect(names).toStrictEqual([`definition/${id}`]);
  expect(writer.isFlushed).toBe(true);
});

test('a definition that comes while another is stored is stored too', async () => {
  const { names, notes } = createNotes();
  const writer = new DefinitionWriter(notes);
  const one = writer.define(define('m/one'));
  const first = writer.flush();
  const two = writer.define(define('m/two'));
  await Promise.all([first, writer.flush()]);
  expect(names).toStrictEqual([`definition/${one}`, `definition/${two}`]);
});

test('a definition that could not be stored is stored by the next flush', async () => {
  const { names, notes } = createNotes(1);
  const writer = new DefinitionWriter(notes);
  const id = writer.define(define('m/one'));
  await expect(writer.flush()).rejects.toThrow('the disk is full');
  await writer.flush();
  expect(names).toStrictEqual([`definition/${id}`]);
});
