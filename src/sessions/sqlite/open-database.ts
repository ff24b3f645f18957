// Opening a database as a session store.
// O1. What is no session store, or one of a newer release, is left exactly as it was found.
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { StoreUnavailableError } from '../index.ts';
import { resultName, toStoreError } from './classify-error.ts';
import { getRow } from './read-session.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { applicationId, insertInto, isIntact, schema, schemaVersion, withChecksum, selected } from './tables.ts';

/** How a store is opened. */
export interface OpenOptions {
  readonly busyTimeoutMs: number;
}

/** True for a store, false for an empty database. Throws for everything else. Writes nothing. */
function isStore(database: SqliteDatabase, what: string): boolean {
  const tables = database.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all();
  if (tables.length === 0) return false;
  const mark = getRow(database.prepare('PRAGMA application_id'))?.['application_id'];
  if (mark !== applicationId) throw new StoreUnavailableError('not-a-store', `${what} is another kind of database`);
  const version = getRow(database.prepare(`SELECT ${selected('meta')} FROM meta WHERE name = ?`), 'schema');
  if (version === undefined || !isIntact('meta', version)) {
    throw new StoreUnavailableError('failed', `the row that says which release wrote ${what} is damaged or missing`);
  }
  if (Number(version['value']) > schemaVersion) {
    throw new StoreUnavailableError(
      'newer-schema',
      `${what} has schema ${String(version['value'])}, and this release knows ${schemaVersion}`,
    );
  }
  return true;
}

function createTables(database: SqliteDatabase, what: string): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    // Another process may have been quicker.
    if (!isStore(database, what)) {
      database.exec(schema);
      database.exec(`PRAGMA application_id = ${applicationId}`);
      const addMeta = database.prepare(insertInto('meta'));
      addMeta.run(...withChecksum('meta', ['schema', schemaVersion]));
      addMeta.run(...withChecksum('meta', ['epoch', 0]));
    }
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

/** Makes an open database ready to be used as a store. */
export function prepareDatabase(database: SqliteDatabase, what: string, { busyTimeoutMs }: OpenOptions): SqliteDatabase {
  try {
    database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`);
    const isThere = isStore(database, what);
    database.exec(
      'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF; PRAGMA wal_autocheckpoint = 16000; PRAGMA cache_size = -32000',
    );
    if (!isThere) createTables(database, what);
    return database;
  } catch (error) {
    throw toStoreError(error, `${what} could not be opened:`);
  }
}

const canWrite = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

/** Why a path cannot be opened at all, where the system says so. */
function checkPath(path: string): void {
  const folder = dirname(path);
  if (!existsSync(folder)) throw new StoreUnavailableError('not-a-store', `there is no folder "${folder}"`);
  const isThere = existsSync(path);
  if (isThere && !statSync(path).isFile()) throw new StoreUnavailableError('not-a-store', `"${path}" is no file`);
  if (!canWrite(folder) || (isThere && !canWrite(path))) throw new StoreUnavailableError('read-only', `"${path}" cannot be written`);
}

/** Opens the file of a store, or makes it. */
export async function openFile(path: string, options: OpenOptions): Promise<SqliteDatabase> {
  if (path === ':memory:') return prepareDatabase(await open(path), path, options);
  checkPath(path);
  const what = `"${path}"`;
  // Looked at without the right to write first: closing a foreign database could otherwise change its file.
  if (existsSync(path) && statSync(path).size > 0) await lookInto(path, what);
  const database = await open(path);
  try {
    return prepareDatabase(database, what, options);
  } catch (error) {
    database.close();
    throw error;
  }
}

async function open(path: string, readOnly = false): Promise<SqliteDatabase> {
  // Loaded here, so that the door costs nothing to those who bring a database of their own.
  const { DatabaseSync } = await import('node:sqlite');
  try {
    return new DatabaseSync(path, { readOnly });
  } catch (error) {
    throw toStoreError(error, `"${path}" could not be opened:`);
  }
}

async function lookInto(path: string, what: string): Promise<void> {
  const database = await open(path, true);
  try {
    isStore(database, what);
  } catch (error) {
    // Busy or left behind by a crash: opening it for writing tells more.
    if (resultName(error) !== 'BUSY' && resultName(error) !== 'CANTOPEN') throw toStoreError(error, `${what} could not be opened:`);
  } finally {
    database.close();
  }
}
