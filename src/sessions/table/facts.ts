// The facts that the tasks of a batch are checked against.
// Owns:     reading them, in one statement for each kind, however many sessions there are.
// Does not: check anything.
// B2. Nothing that is read here can change before the commit: the database sees to that.
import type { KnownSession, LogEntry, Mail, StoredFacts, StoredRow, StoreTask } from '../index.ts';
import { getSessionId, SessionDamagedError } from '../index.ts';
import type { Dialect } from './dialect.ts';
import { checks, isIntact } from './rows.ts';
import type { Statement, TableWork, Wanted } from './statement.ts';
import { ask, listWanted, raw, sql } from './statement.ts';

/** Facts that a database need not read again. */
export interface Knowledge {
  readonly sessions: ReadonlyMap<string, KnownSession>;
  /** Ids of workers that have joined. */
  readonly workers: ReadonlySet<string>;
}

/** Facts as they were read. */
export interface Facts extends StoredFacts {
  /** Time on the clock of the store. */
  readonly now: number;
  /** Numbers for new sessions. */
  readonly nums: readonly number[];
  /** Returns the number of a session, though it may be damaged. */
  findNum(sessionId: string): number | undefined;
  /** Returns the numbers of a session that is deleted. One counts only if no intact row gives it to another session. */
  findNumbers(sessionId: string): readonly number[];
  /** Returns the worker that owns a session, though it may be damaged. */
  findOwner(sessionId: string): string | undefined;
  /** True if a damaged mail of this request is there. */
  hasDamagedMail(session: KnownSession, requestId: string): boolean;
  /** Workers that tasks of the batch name; all of them if one may have to be woken. */
  readonly workers: readonly StoredRow[];
}

/** Lists what tasks of a batch ask for, besides the headers of their sessions. */
function listAsked(tasks: readonly StoreTask[]) {
  const writes = tasks.flatMap((task) => (task.type === 'write' ? task.write : []));
  const posts = tasks.flatMap((task) => (task.type === 'post' ? { id: task.mail.sessionId, ref: task.mail.requestId } : []));
  const answers = writes.flatMap(({ sessionId: id, entries = [] }) => entries.map(({ requestId: ref }) => ({ id, ref })));
  return {
    ids: new Set(tasks.map(getSessionId)),
    created: writes.filter(({ after }) => after === 0).length,
    deleted: new Set(tasks.flatMap((task) => (task.type === 'delete' ? task.deletion.sessionId : []))),
    keepers: new Set(writes.flatMap(({ keepsLease, lease }) => (keepsLease ? lease.worker : []))),
    wakes: posts.length > 0 || writes.some(({ keepsLease }) => !keepsLease),
    requests: [...posts, ...answers.flatMap(({ id, ref }) => (ref === undefined ? [] : { id, ref }))],
    effects: writes.flatMap(({ sessionId: id, effects = [], clearsEffects }) =>
      clearsEffects === true ? [] : effects.map(({ key: ref }) => ({ id, ref })),
    ),
    entries: writes.flatMap(({ sessionId: id, rewrites = [] }) => rewrites.map(({ n: num }) => ({ id, num }))),
    mails: writes.flatMap(({ sessionId: id, mail }) => (mail?.reply === undefined ? [] : { id, num: mail.num })),
    posts,
  };
}

const toWanted = (ids: Iterable<string>): readonly Wanted[] => [...ids].map((id) => ({ id }));

/** Traces of sessions that may have no header: entries that name them, and tombstones. */
function findTraces(ids: ReadonlySet<string>): { readonly named: Statement | undefined; readonly tombstones: Statement | undefined } {
  if (ids.size === 0) return { named: undefined, tombstones: undefined };
  const digests = sql`(SELECT w.id FROM ${listWanted(toWanted([...ids].map((id) => checks.toTombstoneId(id))))})`;
  return {
    named: sql`SELECT session_id AS id FROM @log WHERE session_id IN (SELECT w.id FROM ${listWanted(toWanted(ids))})`,
    tombstones: sql`SELECT {tombstones} FROM @tombstones WHERE id IN ${digests}
      UNION ALL SELECT {tombstones} FROM @tombstones WHERE id_copy IN ${digests}`,
  };
}

const mostNum = String(Number.MAX_SAFE_INTEGER);

/** Numbers that sessions may have, each with the rows that say whose it is. With damage there may be two. */
function findOwn(ids: ReadonlySet<string>): Readonly<Record<'own' | 'headers' | 'firsts', Statement | undefined>> {
  const own = ids.size === 0 ? undefined : raw('SELECT * FROM page');
  return {
    own,
    headers: own && raw('SELECT {sessions} FROM @sessions WHERE num IN (SELECT num FROM page)'),
    firsts: own && raw('SELECT {log} FROM @log WHERE n = 1 AND session IN (SELECT num FROM page)'),
  };
}

const toKey = (...parts: readonly unknown[]): string => parts.join(' ');
const toKeys = (rows: readonly StoredRow[], ...columns: readonly string[]): ReadonlySet<string> =>
  new Set(rows.map((row) => toKey(...columns.map((column) => row[column]))));

type FactName =
  | ('now' | 'nums' | 'sessions' | 'heads' | 'named' | 'tombstones' | 'own' | 'headers' | 'firsts')
  | ('answered' | 'effects' | 'entries' | 'mails' | 'posts' | 'workers');

/** Reads the facts for these tasks. */
export function* readFacts(dialect: Dialect, known: Knowledge, tasks: readonly StoreTask[]): TableWork<Facts> {
  const asked = listAsked(tasks);
  const now = dialect.now();
  const unknown = new Set([...asked.ids].filter((id) => !known.sessions.has(id)));
  const isIn = (wanted: readonly Wanted[], make: (list: Statement) => Statement): Statement | undefined =>
    wanted.length === 0 ? undefined : make(sql`${listWanted(wanted)} JOIN @sessions s ON s.id = w.id`);
  const listed = unknown.size === 0 ? raw('') : listWanted(toWanted(unknown));
  const traced = asked.created + asked.deleted.size > 0 ? unknown : new Set<string>();
  const keepers = [...asked.keepers].filter((id) => !known.workers.has(id));
  const deleted = asked.deleted.size === 0 ? raw('') : listWanted(toWanted(asked.deleted));
  const rows = yield* ask(
    {
      now: typeof now === 'number' ? undefined : sql`SELECT ${now} AS now`,
      nums: asked.created === 0 ? undefined : dialect.nextNums(asked.created),
      sessions: unknown.size === 0 ? undefined : sql`SELECT {sessions} FROM @sessions WHERE id IN (SELECT w.id FROM ${listed})`,
      heads:
        unknown.size === 0
          ? undefined
          : sql`SELECT {heads} FROM @heads WHERE session IN (SELECT s.num FROM ${listed} JOIN @sessions s ON s.id = w.id)`,
      ...findTraces(traced),
      ...findOwn(asked.deleted),
      answered: isIn(
        asked.requests,
        (list) => sql`SELECT l.session, l.request_id FROM ${list} JOIN @log l ON l.session = s.num AND l.request_id = w.ref
          JOIN @heads h ON h.session = s.num AND l.n <= h.head`,
      ),
      effects: isIn(
        asked.effects.filter(({ id }) => known.sessions.get(id)?.effects !== 0),
        (list) => sql`SELECT e.session, e.phase, e.key FROM ${list} JOIN @effects e ON e.session = s.num AND e.key = w.ref`,
      ),
      entries: isIn(asked.entries, (list) => sql`SELECT {log} FROM @log WHERE (session, n) IN (SELECT s.num, w.num FROM ${list})`),
      mails: isIn(asked.mails, (list) => sql`SELECT {mail} FROM @mail WHERE (session, num) IN (SELECT s.num, w.num FROM ${list})`),
      posts: isIn(asked.posts, (list) => {
        const [key, place] = [raw(dialect.mailKey), raw(dialect.mailKey === 'session' ? 's.num' : 'w.id')];
        return sql`SELECT {mail} FROM @mail WHERE (${key}, request_id) IN (SELECT ${place}, w.ref FROM ${list})`;
      }),
      workers:
        asked.wakes && dialect.wakes
          ? raw('SELECT id, room, body FROM @workers')
          : keepers.length === 0
            ? undefined
            : sql`SELECT id FROM @workers WHERE id IN (SELECT w.id FROM ${listWanted(toWanted(keepers))})`,
    },
    asked.deleted.size === 0
      ? undefined
      : sql`SELECT w.id, s.num FROM ${deleted} JOIN @sessions s ON s.id = w.id WHERE s.num BETWEEN 1 AND ${raw(mostNum)}
          UNION SELECT w.id, l.session FROM ${deleted} JOIN @log l ON l.session_id = w.id WHERE l.session BETWEEN 1 AND ${raw(mostNum)}`,
  );
  const found = new Map(rows.sessions.map((row) => [row['id'], row]));
  const missing = traced.size > 0 ? [] : [...unknown].filter((id) => !found.has(id));
  const traces = traced.size > 0 ? rows : yield* ask(findTraces(new Set(missing)));
  return toFacts(known, { ...rows, ...traces }, now);
}

function toFacts(known: Knowledge, rows: Readonly<Record<FactName, readonly StoredRow[]>>, now: unknown): Facts {
  const sessions = new Map(rows.sessions.map((row) => [row['id'], row]));
  const heads = new Map(rows.heads.map((row) => [row['session'], row]));
  const [named, answered, effects] = [
    toKeys(rows.named, 'id'),
    toKeys(rows.answered, 'session', 'request_id'),
    toKeys(rows.effects, 'session', 'phase', 'key'),
  ];
  const entries = new Map(rows.entries.map((row) => [toKey(row['session'], row['n']), row]));
  const mails = checks.readMail([...rows.mails, ...rows.posts]);
  const damagedMails = rows.posts.filter((row) => !isIntact('mail', row));
  const joined = toKeys(rows.workers, 'id');
  const findHead = (sessionId: string): StoredRow | undefined => heads.get(sessions.get(sessionId)?.['num']);

  function findEntry({ num, header }: KnownSession, n: number): LogEntry {
    const row = entries.get(toKey(num, n));
    if (row === undefined) throw new SessionDamagedError(header.id, `entry ${n} is missing`);
    return checks.readEntry(header.id, row);
  }

  function findNumbers(sessionId: string): readonly number[] {
    const isOfAnother = (num: unknown): boolean =>
      rows.headers.some((row) => row['num'] === num && row['id'] !== sessionId && isIntact('sessions', row)) ||
      rows.firsts.some((row) => row['session'] === num && row['session_id'] !== sessionId && isIntact('log', row));
    const own = rows.own.filter(({ id, num }) => id === sessionId && !isOfAnother(num));
    return own.map(({ num }) => Number(num));
  }

  const findMail = ({ header }: KnownSession, fits: (mail: Mail) => boolean): Mail | undefined =>
    mails.find((mail) => mail.sessionId === header.id && fits(mail));
  return {
    now: typeof now === 'number' ? now : Number(rows.now[0]?.['now']),
    nums: rows.nums.map(({ num }) => Number(num)),
    workers: rows.workers,
    find: (sessionId) => {
      const session = sessions.get(sessionId);
      if (session === undefined && !named.has(sessionId)) return known.sessions.get(sessionId);
      return checks.readKnown(sessionId, { session, head: findHead(sessionId) });
    },
    findNum: (sessionId) => {
      const num = sessions.get(sessionId)?.['num'] ?? known.sessions.get(sessionId)?.num;
      return typeof num === 'number' ? num : undefined;
    },
    findNumbers,
    findOwner: (sessionId) => {
      const owner = findHead(sessionId)?.['owner'];
      return typeof owner === 'string' ? owner : known.sessions.get(sessionId)?.lease.owner;
    },
    findDeletion: (sessionId) => (known.sessions.has(sessionId) ? undefined : checks.findDeletion(sessionId, rows.tombstones)),
    hasAnswer: ({ num }, requestId) => answered.has(toKey(num, requestId)),
    hasEffect: ({ num }, { phase, key }) => effects.has(toKey(num, phase, key)),
    findEntry,
    findMail: (session, num) => findMail(session, (mail) => mail.num === num),
    findRequestMail: (session, requestId) => findMail(session, (mail) => mail.requestId === requestId),
    hasDamagedMail: ({ num, header }, requestId) =>
      damagedMails.some((row) => row['request_id'] === requestId && (row['session'] === num || row['session_id'] === header.id)),
    hasWorker: (id) => known.workers.has(id) || joined.has(id),
  };
}
