// The field that the later build added, in everything that is stored.
import type { Figure } from '../figures.ts';
import { none, info } from '../figures.ts';
import type { ReadLog } from '../processes/check-log.ts';
import { readLogs } from '../processes/check-log.ts';
import type { Crew } from '../processes/crew.ts';
import type { OpenedDatabase } from '../processes/open-database.ts';
import { openDatabase } from '../processes/open-database.ts';
import type { Database } from '../processes/orders.ts';
import { createSessionIds } from '../processes/plan.ts';
import { readWrites } from '../processes/records.ts';
import { addedField } from './create-builds.ts';

/** Texts that have the field, at this moment. */
async function countTexts({ query }: OpenedDatabase): Promise<Readonly<Record<string, number>>> {
  const columns = [
    ['sessions', 'details'],
    ['log', 'body'],
    ['log', 'events'],
    ['effects', 'body'],
    ['mail', 'body'],
    ['mail', 'reply'],
    ['notes', 'body'],
    ['workers', 'body'],
  ] as const;
  const counts: Record<string, number> = {};
  for (const [table, column] of columns) {
    const rows = await query((name) => `SELECT count(*) AS count FROM ${name(table)} WHERE ${column} LIKE '%"${addedField}"%'`);
    counts[`${table}.${column}`] = Number(rows[0]?.['count']);
  }
  return counts;
}

/** Texts that are seen however seldom one looks. */
const lastingTexts = ['sessions.details', 'log.body', 'log.events', 'notes.body', 'workers.body'];
/** Texts that may be gone before one looks. */
const passingTexts = ['effects.body', 'mail.body', 'mail.reply'];

export interface FieldWatch {
  /** The most texts of each kind that had the field at one moment. */
  readonly most: Readonly<Record<string, number>>;
  readonly stop: () => Promise<void>;
}

/** Looks now and then which texts have the field: some of them are gone at the end. */
export async function watchFields(database: Database): Promise<FieldWatch> {
  const opened = await openDatabase(database);
  const most: Record<string, number> = {};
  const stopping = new AbortController();
  const look = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // The tables are created by the first worker.
      const counts = await countTexts(opened).catch(() => ({}));
      for (const [name, count] of Object.entries(counts)) most[name] = Math.max(most[name] ?? 0, count);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  const looking = look();
  return {
    most,
    stop: async () => {
      stopping.abort();
      await looking;
      await opened.close();
    },
  };
}

type Entry = ReadLog['entries'][number];

interface WrittenBody {
  readonly change?: { readonly [addedField]?: number };
  /** A whole state, or its text. */
  readonly state?: string | WrittenState;
}

interface WrittenState {
  readonly data: { readonly [addedField]?: number };
}

/** Reads the value of the field that an entry writes into the state; undefined if it writes none. */
function readValue({ body }: Entry): number | undefined {
  // Holds: the runtime wrote them, and the later build writes a number.
  const { change, state } = JSON.parse(body) as WrittenBody;
  if (state === undefined) return change?.[addedField];
  const { data } = typeof state === 'string' ? (JSON.parse(state) as WrittenState) : state;
  return data[addedField];
}

/** Snapshots of the present build that have another value of the field than the later build wrote last before them. */
function findLostValues(
  { session, entries }: ReadLog,
  presentWrites: ReadonlySet<string>,
): { readonly lost: readonly string[]; readonly kept: number } {
  const lost: string[] = [];
  let last: number | undefined;
  let kept = 0;
  for (const entry of entries) {
    const value = readValue(entry);
    const isPresent = entry.isSnapshot && presentWrites.has(`${session}: entry ${entry.n}`);
    if (!isPresent) last = value ?? last;
    else if (value !== last) lost.push(`${session}: entry ${entry.n} has ${String(value)}, the later build wrote ${String(last)}`);
    else if (last !== undefined) kept += 1;
  }
  return { lost, kept };
}

const isOfLaterBuild = ({ body }: Entry): boolean => body.includes(`"${addedField}":"entry"`);

/** Sessions that the later build has written to, and whose details have lost the field. */
async function findLostDetails({ query }: OpenedDatabase, logs: readonly ReadLog[]): Promise<readonly string[]> {
  const rows = await query((table) => `SELECT id, details FROM ${table('sessions')}`);
  const details = new Map(rows.map(({ id, details: text }) => [String(id), String(text)]));
  return logs
    .filter(({ session, entries }) => entries.some(isOfLaterBuild) && details.get(session)?.includes(`"${addedField}"`) !== true)
    .map(({ session }) => session);
}

export interface FieldFacts {
  readonly folder: string;
  readonly database: Database;
  readonly sessions: number;
  readonly workers: Crew;
  readonly most: Readonly<Record<string, number>>;
}

export async function checkFields({ folder, database, sessions, workers, most }: FieldFacts): Promise<readonly Figure[]> {
  const opened = await openDatabase(database);
  try {
    const logs = await readLogs(opened.store, createSessionIds(sessions));
    // The present build is the first one.
    const present = workers.all.filter(({ build }) => build === 0).flatMap(({ child }) => readWrites(folder, child.name));
    const safe = new Set(present.map(({ session, n }) => `${session}: entry ${n}`));
    const values = logs.map((log) => findLostValues(log, safe));
    const isMixed = ({ entries }: ReadLog): boolean => entries.some(isOfLaterBuild) && !entries.every(isOfLaterBuild);
    const missing = lastingTexts.filter((name) => (most[name] ?? 0) === 0);
    return [
      none('kinds of text without the added field', missing),
      ...passingTexts.map((name) => info(`  ${name} with the added field at one moment, at most`, most[name] ?? 0)),
      none('sessions that only one build wrote to', logs.every((log) => !isMixed(log)) ? ['all'] : []),
      info('  sessions that both builds wrote to', logs.filter(isMixed).length),
      none(
        'states written by the present build that lost the added field',
        values.flatMap(({ lost }) => lost),
      ),
      info(
        '  states written by the present build that kept it',
        values.reduce((sum, { kept }) => sum + kept, 0),
      ),
      none('sessions whose details lost the added field', await findLostDetails(opened, logs)),
    ];
  } finally {
    await opened.close();
  }
}
