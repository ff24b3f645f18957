// A standby of a real server, which has every commit before it is reported.
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Server } from './server.ts';
import { createCluster, openPool, toUrl } from './server.ts';

export interface Standby {
  /** It only reads. */
  readonly url: string;
  readonly dispose: () => Promise<void>;
}

/**
 * Starts a standby of a server that nobody uses yet. From then on a commit waits until the standby has applied it, which it does `delayMs`
 * after the primary made it.
 */
export async function startStandby(primary: Server, delayMs = 5): Promise<Standby> {
  const upstream = `host=127.0.0.1 port=${new URL(primary.url).port} user=postgres password=password application_name=standby`;
  const { server, port, folder } = await createCluster([
    ...['-c', `primary_conninfo=${upstream}`],
    ...['-c', `recovery_min_apply_delay=${String(delayMs)}ms`],
  ]);
  const before = await openPool(primary.url);
  const { rows } = await before.query('SHOW data_directory');
  await before.end();
  await primary.stop();
  execFileSync('cp', ['-a', String(rows[0]?.['data_directory']), join(folder, 'data')]);
  writeFileSync(join(folder, 'data', 'standby.signal'), '');
  await primary.start();
  // It waits for the words of a server that writes, which a standby never says.
  server.start().catch(() => undefined);
  const pool = await openPool(primary.url);
  const waitUntil = async (isTrue: string): Promise<void> => {
    while ((await pool.query(`SELECT 1 FROM pg_stat_replication WHERE ${isTrue}`)).rows.length === 0) await pause(20);
  };
  await waitUntil("state = 'streaming'");
  await pool.query('ALTER SYSTEM SET synchronous_standby_names = standby');
  await pool.query('ALTER SYSTEM SET synchronous_commit = remote_apply');
  await pool.query('SELECT pg_reload_conf()');
  await waitUntil("sync_state = 'sync'");
  await pool.end();
  return {
    url: toUrl(port),
    dispose: async () => {
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
