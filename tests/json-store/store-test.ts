// Every port of the store, by its suite of promises.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { SessionStorePlace } from 'stepline/testing';
import { sessionStoreConformance } from 'stepline/testing';
import { openJsonStore } from './json-store.ts';

async function makePlace(): Promise<SessionStorePlace> {
  const folder = await mkdtemp(join(tmpdir(), 'json-store-'));
  return {
    open: async () => openJsonStore(join(folder, 'sessions.json')),
    dispose: () => rm(folder, { recursive: true }),
  };
}

for (const { port, name, run } of sessionStoreConformance(makePlace)) void test(`${port}: ${name}`, async () => run());
