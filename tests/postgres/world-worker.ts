// The worker of a world over Postgres.
import { postgresStore } from '../../src/sessions/postgres/index.ts';
import { serveWorld } from '../sessions/serve-world.ts';
import { openPool } from './server.ts';

await serveWorld(async ({ url = '', schema = '' }) => postgresStore({ pool: await openPool(url), schema }));
