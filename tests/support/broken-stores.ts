// Stores that break one promise each, to show that the suite of the SessionStore port finds them.
import { expect, test } from 'vitest';
import type { MemoryPlace, SessionQuery, SessionStore, SessionWrite } from '../../src/sessions/index.ts';
import { createMemoryPlace } from '../../src/sessions/index.ts';
import type { StoreCheck } from '../../src/testing/session-store-sample.ts';
import { runCheck } from '../../src/testing/session-store-sample.ts';

/** Opens broken stores on a place. */
export type Breaking = (place: MemoryPlace) => () => SessionStore;

const openWhole: Breaking = (place) => () => place.open();

/** Stores that have some ports of their own. */
export const withChange =
  (change: (whole: SessionStore) => Partial<SessionStore>): Breaking =>
  (place) =>
  () => {
    const store = place.open();
    return { ...store, ...change(store) };
  };

/** Stores with another method of one port. */
export const withMethod = <Name extends Exclude<keyof SessionStore, 'close'>>(
  name: Name,
  change: (port: SessionStore[Name], store: SessionStore) => Partial<SessionStore[Name]>,
): Breaking => withChange((store) => ({ [name]: { ...store[name], ...change(store[name], store) } }));

/** Stores that write something else than they are asked for. */
export const writing = (change: (write: SessionWrite, store: SessionStore) => Promise<SessionWrite> | SessionWrite): Breaking =>
  withMethod('log', (log, store) => ({ write: async (write) => log.write(await change(write, store)) }));

/** Stores that list something else than they are asked for. */
export const listing = (change: (query: SessionQuery) => SessionQuery): Breaking =>
  withMethod('heads', (heads) => ({ list: (query = {}) => heads.list(change(query)) }));

/** Stores that accept each write. */
export const neverRefusing: Breaking = withMethod('log', (log) => ({
  write: (write) => log.write(write).catch(() => ({ hasMail: false })),
}));

/** Stores that remember a page by how many sessions came before. */
export const countingPages: Breaking = withMethod('heads', (heads) => ({
  list: async ({ cursor = '0', limit = 100, ...query } = {}) => {
    const skipped = Number(cursor);
    const { sessions } = await heads.list({ ...query, limit: 1000 });
    const hasMore = skipped + limit < sessions.length;
    return { sessions: sessions.slice(skipped, skipped + limit), ...(hasMore && { cursor: String(skipped + limit) }) };
  },
}));

/** Stores that claim a session only if its header says that it is open. */
export const claimingOpen: Breaking = withMethod('leases', (leases, store) => ({
  claim: async (query) => {
    const { sessions } = await store.heads.list({ isOpen: false, limit: 1000 });
    return leases.claim({ ...query, except: sessions.map(({ id }) => id) });
  },
}));

/** Tests that each case of a suite fails for its broken store, and passes for a whole one. */
export function testSuite(checks: Readonly<Record<string, StoreCheck>>, broken: Readonly<Record<string, Breaking>>): void {
  const fails = async (check: StoreCheck, breaking: Breaking): Promise<boolean> => {
    const open = breaking(createMemoryPlace());
    return runCheck({ open: async () => open() }, check).then(
      () => false,
      () => true,
    );
  };

  test('has a store that breaks each case', () => {
    expect(Object.keys(broken)).toStrictEqual(Object.keys(checks));
  });

  test.each(Object.entries(checks))('"%s" fails where it is broken, and only there', async (name, check) => {
    const breaking = broken[name];
    if (breaking === undefined) throw new Error(`There is no store that breaks "${name}".`);
    expect([await fails(check, breaking), await fails(check, openWhole)]).toStrictEqual([true, false]);
  });
}
