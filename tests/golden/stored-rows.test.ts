// Rows that this release wrote. A later one has to read them as they are, and to write the same until its schema has another number.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as prettier from 'prettier';
import { describe, expect, test } from 'vitest';
import type { SessionStore } from '../../src/sessions/index.ts';
import { createSessionRuntime } from '../../src/sessions/index.ts';
import type { Place } from '../sessions/stage.ts';
import { ann, readEvents, newPath, sqlitePlace, stageOn } from '../sessions/stage.ts';
import type { StoredRows } from './stored-rows.ts';
import { dumpRows, listAgents, restoreRows, writeSessions } from './stored-rows.ts';

const toPath = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const howToRenew =
  'The stored form is not what it was. Stored sessions have the old one: keep it readable. ' +
  'Where the change is meant, run `UPDATE_GOLDEN=1 npx vitest run tests/golden` and commit the files.';

/** Compares a value with the one that is kept in a file. */
async function expectKept(name: string, value: unknown): Promise<void> {
  const now = JSON.stringify(value);
  if (process.env['UPDATE_GOLDEN'] === '1') {
    const options = await prettier.resolveConfig(toPath(name));
    writeFileSync(toPath(name), await prettier.format(now, { ...options, parser: 'json' }));
  }
  expect(JSON.parse(now), howToRenew).toStrictEqual(JSON.parse(readFileSync(toPath(name), 'utf8')));
}

// Holds: that is what the test below keeps there.
const readStoredRows = (): StoredRows => JSON.parse(readFileSync(toPath('stored-rows.1.json'), 'utf8')) as StoredRows;

const isJson = (text: string): boolean => /^(?:\{"|\[[[{"\]])/.test(text);

/** Reads the JSON in the texts of a row, to any depth: the order of keys is not a part of the stored form, and neither is its checksum. */
function parseTexts(value: unknown): unknown {
  if (typeof value === 'string' && isJson(value)) return parseTexts(JSON.parse(value));
  if (Array.isArray(value)) return value.map(parseTexts);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).flatMap(([key, field]) => (key === 'sum' ? [] : [[key, parseTexts(field)]])));
}

function restorePlace(rows: StoredRows = readStoredRows()) {
  const path = newPath();
  restoreRows(path, rows);
  return sqlitePlace(path);
}

const sessionIds = ['talk', 'fork', 'joined', 'open', 'gone'];
const settle = async (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => String(error));

/** Everything that a store says about its content. */
async function readStore(store: SessionStore): Promise<unknown> {
  const sessions: Record<string, unknown> = {};
  for (const id of sessionIds)
    sessions[id] = {
      snapshot: await settle(store.log.load(id).then((stored) => stored?.entries[0]?.n)),
      log: await store.log.entries(id),
      open: await store.log.effects(id),
    };
  const { sessions: listed } = await store.heads.list();
  return {
    sessions,
    listed,
    mail: await store.inbox.read(),
    notes: await store.notes.list({ prefix: '' }),
  };
}

/** Everything that a client sees of the sessions. */
async function readRuntime(place: Place): Promise<unknown> {
  const stage = stageOn(place);
  const { clock, ids } = stage;
  const runtime = createSessionRuntime({ agents: listAgents(stage), store: place.open(), role: 'client', clock, ids });
  const sessions: Record<string, unknown> = {};
  for (const id of sessionIds) {
    const events = settle(readEvents(runtime, id).then((all) => all.map(({ type, seq }) => `${seq} ${type}`)));
    const session = runtime
      .get(id)
      .then(({ state, ...shown }) => ({ ...shown, messages: state.messages.toArray().map(({ text }) => text) }));
    sessions[id] = { session: await settle(session), actions: await settle(runtime.actions(id)), events: await events };
  }
  const holds = await runtime.holds();
  await runtime.drain();
  return { sessions, holds };
}

describe('stored rows', () => {
  test('are written as they are kept here', async () => {
    const path = newPath();
    await writeSessions(path);
    const { schema, rows } = dumpRows(path);
    if (process.env['UPDATE_GOLDEN'] === '1') await expectKept('stored-rows.1.json', { schema, rows });
    for (const [table, kept] of Object.entries(readStoredRows().rows))
      expect(rows[table]?.map(parseTexts), `${table}: ${howToRenew}`).toStrictEqual(kept.map(parseTexts));
    for (const [table, kept] of Object.entries(rows)) expect(kept, `There is no row of ${table}.`).not.toStrictEqual([]);
  });

  test('have every kind of entry', () => {
    const bodies = (readStoredRows().rows['log'] ?? []).map(
      ({ body }) => JSON.parse(String(body)) as { readonly action?: { readonly type: string } },
    );
    const keys = new Set(bodies.flatMap((body) => Object.keys(body)));
    expect([...keys].sort()).toStrictEqual(['action', 'applied', 'change', 'execution', 'isQueued', 'refused', 'requests', 'state']);
    const types = new Set(bodies.flatMap(({ action }) => action?.type ?? []));
    expect([...types].sort()).toStrictEqual([
      'answer',
      'approve',
      'cancel',
      'create',
      'erase',
      'fork',
      'grant',
      'reject',
      'resume',
      'send',
    ]);
  });

  test('are read by a store as they were', async () => {
    await expectKept('stored-rows.store.1.json', await readStore(restorePlace().open()));
  });

  test('are read by a runtime as they were', async () => {
    await expectKept('stored-rows.runtime.1.json', await readRuntime(restorePlace()));
  });

  test('of a step in progress are carried on from', async () => {
    const stage = stageOn(restorePlace());
    stage.gate.current.open();
    const runtime = stage.start({ agents: listAgents(stage) });
    await runtime.ready;
    expect((await runtime.send('open', 'say Done.', { by: ann })).status).toBe('completed');
    expect(stage.ran).not.toContain('look 1');
    await runtime.drain();
  });

  test('are each refused if one number of them is another', async () => {
    const rows = readStoredRows();
    const [first, ...others] = rows.rows['log'] ?? [];
    const changed = { ...rows, rows: { ...rows.rows, log: [{ ...first, at: Number(first?.['at']) + 1 }, ...others] } };
    await expect(restorePlace(changed).open().log.entries('talk')).rejects.toMatchObject({ code: 'session-damaged' });
  });
});
