import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { sqliteStore } from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'stepline-options-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

test('text in place of the options is the path of the file', async () => {
  const path = join(folder, 'text.db');
  const store = sqliteStore(path);
  await store.notes.write({ name: 'n', version: 0, body: '' });
  await store.close();
  expect(existsSync(path)).toBe(true);
  const again = sqliteStore({ path });
  expect((await again.notes.read('n'))?.version).toBe(1);
  await again.close();
});

const database = new DatabaseSync(':memory:');

test.each<readonly [string, unknown, string]>([
  ['nothing', undefined, 'sqliteStore() needs a path, { path } or { database }, not undefined.'],
  ['a number', 5, 'sqliteStore() needs a path, { path } or { database }, not 5.'],
  ['a list', ['x.db'], 'sqliteStore() needs a path, { path } or { database }, not a list.'],
  ['an empty path', '', 'sqliteStore(): path is empty. Pass the name of a file, or ":memory:".'],
  ['an empty path in options', { path: '' }, 'sqliteStore(): path is empty.'],
  ['a path that is not text', { path: 5 }, 'sqliteStore(): path must be a string, not 5.'],
  ['neither a path nor a database', {}, 'sqliteStore() needs a path or a database. Pass { path: "sessions.db" }.'],
  ['both a path and a database', { path: 'x.db', database }, 'sqliteStore() got both a path and a database.'],
  [
    'a database that is not one',
    { database: {} },
    'sqliteStore(): database must be an open database of better-sqlite3 or node:sqlite, not an object.',
  ],
  ['a misspelt option', { file: 'x.db' }, 'Unknown option "file" in sqliteStore(). Use path.'],
  ['a strange timeout', { path: 'x.db', busyTimeoutMs: -1 }, 'sqliteStore(): busyTimeoutMs must be a whole number of 0 or more, not -1.'],
  ['a timeout that is not a number', { path: 'x.db', busyTimeoutMs: '1; DROP' }, 'not "1; DROP".'],
])('%s is refused at once', (_, options, message) => {
  expect(() => sqliteStore(options as never)).toThrow(expect.objectContaining({ code: 'invalid-argument' }) as Error);
  expect(() => sqliteStore(options as never)).toThrow(message);
});

test('a missing folder is named, and nothing is created', async () => {
  const store = sqliteStore({ path: join(folder, 'missing', 'sessions.db') });
  const message = `The session store cannot be used: there is no folder "${join(folder, 'missing')}". Create the folder, or use another path.`;
  await expect(store.leases.free()).rejects.toMatchObject({ code: 'store-unavailable', problem: 'not-a-store', message });
  expect(existsSync(join(folder, 'missing'))).toBe(false);
});

test('a Node without node:sqlite gets a sentence that says what to do', () => {
  const script = `
    import { sqliteStore } from ${JSON.stringify(new URL('./index.ts', import.meta.url).href)};
    await sqliteStore(':memory:').leases.free().catch((error) => console.log(JSON.stringify([error.code, error.message])));
  `;
  const args = ['--no-experimental-sqlite', '--no-warnings', '--input-type=module', '--eval', script];
  const [code, message] = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as [string, string];
  expect(code).toBe('store-unavailable');
  expect(message).toBe(
    `The session store cannot be used: this Node (${process.version}) has no node:sqlite. Use Node 22.13 or newer, or pass a database of better-sqlite3: sqliteStore({ database }).`,
  );
});
