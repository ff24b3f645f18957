// Everything that must hold after the work, whatever happened during it.
import { createSessionRuntime } from '../../src/sessions/index.ts';
import type { Figure } from '../figures.ts';
import { exactly, none, info } from '../figures.ts';
import { createChaosAgent } from './agent.ts';
import { checkClients, readFeed } from './check-clients.ts';
import { checkLogs, readLogs } from './check-log.ts';
import { checkSessions, readSessions } from './check-sessions.ts';
import { checkTexts } from './check-texts.ts';
import type { OpenedDatabase } from './open-database.ts';
import { openDatabase } from './open-database.ts';
import type { Database } from './orders.ts';
import { createSessionIds } from './plan.ts';
import { readClient, readWorld } from './records.ts';

export interface RunFacts {
  readonly folder: string;
  readonly database: Database;
  readonly sessions: number;
  readonly steps: number;
  readonly workers: readonly string[];
  readonly clients: readonly string[];
  readonly hasOutages: boolean;
}

/** Checks that no rows are left that must not be. */
export async function checkRest({ store, query }: OpenedDatabase, { type }: Database): Promise<readonly Figure[]> {
  const [effects] = await query((table) => `SELECT count(*) AS count FROM ${table('effects')}`);
  const [leases] = await query((table) => `SELECT count(*) AS count FROM ${table('heads')} WHERE owner IS NOT NULL OR is_ready = 1`);
  const mails = await store.inbox.read({});
  const damage = type === 'sqlite' ? await query(() => 'PRAGMA integrity_check') : [];
  return [
    none(
      'mails left that nobody has applied or refused',
      mails.filter(({ reply }) => reply === undefined).map(({ sessionId, requestId }) => `${sessionId}: ${requestId}`),
    ),
    info('  refusals kept for those who asked', mails.filter(({ reply }) => reply !== undefined).length),
    exactly('effects left open in the store', Number(effects?.['count']), 0),
    exactly('sessions that are owned or ready, with nothing left to do', Number(leases?.['count']), 0),
    ...(type === 'sqlite'
      ? [
          none(
            'damage that SQLite finds',
            damage.map((row) => String(row['integrity_check'])).filter((text) => text !== 'ok'),
          ),
        ]
      : []),
  ];
}

/** Reads the store as another process would, and compares everything. */
export async function checkRun(facts: RunFacts): Promise<readonly Figure[]> {
  const { folder, database, sessions, steps, clients } = facts;
  const opened = await openDatabase(database);
  const runtime = createSessionRuntime({ agents: [createChaosAgent()], store: opened.store, role: 'client' });
  try {
    const ids = createSessionIds(sessions);
    const found = await readSessions(runtime, ids);
    const logs = await readLogs(opened.store, ids);
    const records = clients.flatMap((name) => readClient(folder, name));
    return [
      ...checkSessions(found, readWorld(folder), steps),
      ...(await checkLogs(opened.store, logs, { ...facts, records })),
      ...checkClients(found, { ...facts, feed: await readFeed(runtime) }),
      ...checkTexts(found, facts),
      ...(await checkRest(opened, database)),
    ];
  } finally {
    await runtime.drain();
    await opened.close();
  }
}
