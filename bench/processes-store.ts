// A store that two processes of a bench open.
import type { SessionStore } from 'stepline/sessions';
import { postgresStore } from 'stepline/postgres';
import { sqliteStore } from 'stepline/sqlite';
import { openPool } from '../tests/postgres/server.ts';

export type BenchStore =
  { readonly type: 'SQLite'; readonly path: string } | { readonly type: 'Postgres'; readonly url: string; readonly schema: string };

export async function openStore(place: BenchStore): Promise<{ readonly store: SessionStore; readonly close: () => Promise<void> }> {
  if (place.type === 'SQLite') {
    const store = sqliteStore({ path: place.path });
    return { store, close: () => store.close() };
  }
  const store = postgresStore({ pool: await openPool(place.url), schema: place.schema, endsPool: true });
  return { store, close: () => store.close() };
}
