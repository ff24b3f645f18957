// pg's own Pool fits, as its types say. Checked by `npm run test:postgres`, which installs them.
import { Pool } from 'pg';
import { postgresStore } from '../../src/entry/postgres.ts';

postgresStore({ pool: new Pool(), listenPool: new Pool(), schema: 'sessions' });

// @ts-expect-error A connection is not a pool.
postgresStore({ pool: await new Pool().connect() });
