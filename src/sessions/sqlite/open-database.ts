// Opening a database as a session store.
// O1. A database that is not a session store, or one of another release, is left exactly as it was found.
// O2. Opening a file that is there writes nothing: a reader never waits for the writer, nor it for them.
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { createSchemaError, StoreUnavailableError } from '../index.ts';
import { getResultName, toStoreError } from './classify-error.ts';
import { connect } from './connection.ts';
import type { SqliteDatabase } from './sqlite-database.ts';
import { isIntact, withChecksum } from '../table/index.ts';
import { applicationId, getColumns, insertInto, readSafely, schema, schemaVersion } from './tables.ts';

/** Time that SQLite itself waits, and blocks the event loop: enough for the short writes of another process. */
const blockingMs = 20;

/** True for a store, false for an empty database. Throws for everything else. Writes nothing. */
function isStore(database: SqliteDatabase, name: string): boolean {
  const db = connect(database);
  if (db.get("SELECT name FROM sqlite_master WHERE type = 'table'") === undefined) return false;
  if (db.get('PRAGMA application_id')?.['application_id'] !== applicationId)
    throw new StoreUnavailableError('not-a-store', `${name} is a different kind of database`);
  const version = db.get(`SELECT ${readSafely(getColumns('meta'))} FROM meta WHERE name = 'schema'`);
  if (version === undefined || !isIntact('meta', version))
    throw new StoreUnavailableError('failed', `the row with the schema version of ${name} is damaged or missing`);
  const found = Number(version['value']);
  if (found === schemaVersion) return true;
  throw createSchemaError(name, found, schemaVersion);
}

function inTransaction(database: SqliteDatabase, work: () => void): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    work();
    database.exec('COMMIT');
  } catch (error) {
    database.exec('ROLLBACK');
    throw error;
  }
}

function createTables(database: SqliteDatabase, name: string): void {
  inTransaction(database, () => {
    // Another process may have been quicker.
    if (isStore(database, name)) return;
    database.exec(schema);
    database.exec(`PRAGMA application_id = ${applicationId}`);
    database.prepare(insertInto('meta')).run(...withChecksum('meta', ['schema', schemaVersion]));
  });
}

// Deleted text is overwritten in the file (secure_delete), also that of steps long recorded: a session may be deleted later.
const settings = [
  'journal_mode = WAL',
  'synchronous = FULL',
  'foreign_keys = OFF',
  'wal_autocheckpoint = 16000',
  'cache_size = -32000',
  'secure_delete = ON',
];

/** Makes an open database ready to be used as a store. */
export function prepareDatabase(database: SqliteDatabase, name: string): SqliteDatabase {
  try {
    database.exec(`PRAGMA busy_timeout = ${blockingMs}`);
    const isThere = isStore(database, name);
    database.exec(settings.map((setting) => `PRAGMA ${setting};`).join(' '));
    if (!isThere) createTables(database, name);
    return database;
  } catch (error) {
    throw toStoreError(error, `${name} could not be opened:`);
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

/** Throws if the system says that a path cannot be opened at all. Returns true if it can only be read. */
function checkPath(path: string): boolean {
  const folder = dirname(path);
  const advice = 'Create the folder, or use another path.';
  if (!existsSync(folder)) throw new StoreUnavailableError('not-a-store', { what: `there is no folder "${folder}"`, advice });
  const isThere = existsSync(path);
  if (isThere && !statSync(path).isFile()) throw new StoreUnavailableError('not-a-store', `"${path}" is not a file`);
  const isReadOnly = !canWrite(folder) || (isThere && !canWrite(path));
  if (isReadOnly && !isThere) throw new StoreUnavailableError('read-only', `"${path}" cannot be created`);
  return isReadOnly;
}

/** Opens the file of a store, or makes it. */
export async function openFile(path: string): Promise<SqliteDatabase> {
  if (path === ':memory:') return prepareDatabase(await open(path), path);
  const isReadOnly = checkPath(path);
  const name = `"${path}"`;
  // Opened for reading first: closing a foreign database could otherwise change its file.
  if (existsSync(path) && statSync(path).size > 0) await checkFile(path, name);
  const database = await open(path, isReadOnly);
  try {
    return prepareDatabase(database, name);
  } catch (error) {
    database.close();
    throw error;
  }
}

async function open(path: string, readOnly = false): Promise<SqliteDatabase> {
  // Loaded here, so that the entry point costs nothing to those who bring a database of their own.
  const { DatabaseSync } = await import('node:sqlite').catch((error: unknown) => {
    const advice = 'Use Node 22.13 or newer, or pass a database of better-sqlite3: sqliteStore({ database }).';
    throw new StoreUnavailableError('failed', { what: `this Node (${process.version}) has no node:sqlite`, advice }, error);
  });
  try {
    return new DatabaseSync(path, { readOnly });
  } catch (error) {
    throw toStoreError(error, `"${path}" could not be opened:`);
  }
}

async function checkFile(path: string, name: string): Promise<void> {
  const database = await open(path, true);
  try {
    isStore(database, name);
  } catch (error) {
    // Busy or left behind by a crash: opening it for writing tells more.
    if (getResultName(error) !== 'BUSY' && getResultName(error) !== 'CANTOPEN') throw toStoreError(error, `${name} could not be opened:`);
  } finally {
    database.close();
  }
}
