// The worker of a world over SQLite.
import { sqliteStore } from '../../src/sessions/sqlite/index.ts';
import { serveWorld } from './serve-world.ts';

await serveWorld(({ path = '' }) => sqliteStore({ path }));
