// A look at a file before it is opened as a store: opening one that is empty would create the tables.
import { existsSync, statSync } from 'node:fs';
import type { StoreFacts } from './store-facts.ts';

/** Number that marks the files of stores. */
const applicationId = 0x53746570;

const getBytes = (path: string): number =>
  [path, `${path}-wal`].reduce((sum, file) => sum + (existsSync(file) ? statSync(file).size : 0), 0);

/** Looks at a file without changing it. */
export async function inspectSqlite(path: string): Promise<StoreFacts> {
  if (!existsSync(path)) return { type: 'missing', problem: `There is no file "${path}".` };
  if (!statSync(path).isFile()) return { type: 'foreign', problem: `"${path}" is not a file.` };
  const bytes = getBytes(path);
  if (bytes === 0) return { type: 'missing', problem: `The file "${path}" is empty.` };
  const { DatabaseSync } = await import('node:sqlite');
  let database: InstanceType<typeof DatabaseSync> | undefined;
  try {
    database = new DatabaseSync(path, { readOnly: true });
    if (database.prepare('PRAGMA application_id').get()?.['application_id'] !== applicationId)
      return { type: 'foreign', problem: `"${path}" is another kind of database.` };
    const schema = Number(database.prepare("SELECT value FROM meta WHERE name = 'schema'").get()?.['value']);
    return { type: 'store', schema, bytes };
  } catch (error) {
    return { type: 'foreign', problem: `"${path}" cannot be read: ${error instanceof Error ? error.message : String(error)}.` };
  } finally {
    database?.close();
  }
}
