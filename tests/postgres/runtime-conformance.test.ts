import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { postgresStore } from '../../src/sessions/postgres/index.ts';
import { describeWorlds } from '../sessions/describe-worlds.ts';
import type { SharedPlace } from '../sessions/process-worlds.ts';
import { createProcessWorlds } from '../sessions/process-worlds.ts';
import { createWorldKinds } from '../sessions/worlds.ts';
import { newSchema } from './place.ts';
import { openPool } from './server.ts';

/** A place with a pool of its own: each watched store keeps a connection, and worlds run side by side. */
async function createPlace(): Promise<SharedPlace> {
  const [url, schema] = [inject('postgresUrl'), newSchema()];
  const pool = await openPool(url);
  return { place: { url, schema }, open: () => postgresStore({ pool, schema }), dispose: () => pool.end() };
}

const workerFile = fileURLToPath(new URL('world-worker.ts', import.meta.url));

describeWorlds([
  ...createWorldKinds('Postgres', createPlace),
  {
    name: 'Postgres, worker in another process',
    abilities: ['kill', 'drain', 'client', 'time', 'workers'],
    isSerial: true,
    make: createProcessWorlds(workerFile, createPlace),
  },
]);
