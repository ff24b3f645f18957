// The facts that the tasks of a batch are checked against.
// Owns:     reading them, in one statement.
// Does not: check anything.
// B2. The heads of all its sessions are locked before: nothing that is read here can change before the commit.
import { isRecord } from '../../lib/index.ts';
import type { KnownSession, LogEntry, Mail, NewMail, SessionWrite, StoredFacts, StoredRow, StoreTask } from '../index.ts';
import { getSessionId, SessionDamagedError } from '../index.ts';
import type { Query } from './connection.ts';
import { queryJson, readRow, readRows } from './connection.ts';
import type { FactsNeeded, Sql } from './sql.ts';
import { checks, isIntact } from './tables.ts';
import type { JoinedWorker } from './wake.ts';
import { readWorkers } from './wake.ts';

/** A session as it was read. */
export interface ReadSession extends KnownSession {
  readonly headerSum: number;
  readonly headSum: number;
  readonly answered: ReadonlySet<unknown>;
  readonly effectNames: ReadonlySet<string>;
  /** Rows of the entries that are rewritten, by their numbers. */
  readonly rewritten: ReadonlyMap<number, StoredRow>;
  /** Rows of the mails that tasks of the batch name. */
  readonly mail: readonly StoredRow[];
}

/** Facts as they were read. */
export interface Facts {
  /** Time on the clock of the server. */
  readonly now: number;
  /** Numbers for new sessions. */
  readonly nums: readonly number[];
  readonly rows: ReadonlyMap<string, StoredRow>;
  /** Workers that tasks of the batch name; all of them if one may have to be woken. */
  readonly workers: readonly JoinedWorker[];
}

/** A session of the batch, and the rows of it that are needed besides its header. */
interface Wanted {
  readonly id: string;
  requests?: string[];
  effects?: boolean;
  /** Entries that are rewritten. */
  numbers?: number[];
  /** Mails that are answered. */
  mails?: number[];
  /** Requests of mails that are posted. */
  posts?: string[];
  deletes?: boolean;
}

function addWrite(session: Wanted, { entries = [], effects = [], clearsEffects, rewrites = [], mail }: SessionWrite): void {
  const requests = entries.flatMap(({ requestId }) => requestId ?? []);
  if (requests.length > 0) (session.requests ??= []).push(...requests);
  if (effects.length > 0 && clearsEffects !== true) session.effects = true;
  if (rewrites.length > 0) (session.numbers ??= []).push(...rewrites.map(({ n }) => n));
  if (mail?.reply !== undefined) (session.mails ??= []).push(mail.num);
}

function addPost(session: Wanted, { requestId }: NewMail): void {
  (session.requests ??= []).push(requestId);
  (session.posts ??= []).push(requestId);
}

function listWanted(tasks: readonly StoreTask[]): readonly Wanted[] {
  const wanted = new Map<string, Wanted>();
  for (const task of tasks) {
    const id = getSessionId(task);
    const session: Wanted = wanted.get(id) ?? { id };
    wanted.set(id, session);
    if (task.type === 'write') addWrite(session, task.write);
    else if (task.type === 'post') addPost(session, task.mail);
    else if (task.type === 'delete') session.deletes = true;
  }
  return [...wanted.values()];
}

/** Reads the facts for these tasks. */
export async function readFacts(query: Query, sql: Sql, tasks: readonly StoreTask[]): Promise<Facts> {
  const wanted = listWanted(tasks);
  const writes = tasks.flatMap((task) => (task.type === 'write' ? task.write : []));
  const keepers = new Set(writes.filter(({ keepsLease }) => keepsLease).map(({ lease }) => lease.worker));
  const needed: FactsNeeded = {
    creates: writes.filter(({ after }) => after === 0).length,
    hasRequests: wanted.some(({ requests }) => requests !== undefined),
    hasEffects: wanted.some(({ effects }) => effects),
    rewrites: wanted.some(({ numbers }) => numbers !== undefined),
    deletes: wanted.some(({ deletes }) => deletes),
    hasMail: wanted.some(({ mails, posts }) => mails !== undefined || posts !== undefined),
    workers: tasks.some((task) => task.type === 'post' || (task.type === 'write' && !task.write.keepsLease)) ? 'all' : 'named',
  };
  const values = [JSON.stringify(wanted), ...(needed.workers === 'all' ? [] : [JSON.stringify([...keepers])])];
  const found = await queryJson(query, sql.facts(needed), values);
  const rows = new Map(readRows(found['sessions']).map((row) => [String(row['id']), row]));
  if (needed.creates === 0) await addTraces(query, sql, rows);
  const nums = Array.isArray(found['nums']) ? found['nums'].map(Number) : [];
  return { now: Number(found['now']), nums, rows, workers: readWorkers(found['workers']) };
}

/** Finds out about sessions without a header: some have entries, and are damaged, and some were deleted. */
async function addTraces(query: Query, sql: Sql, rows: Map<string, StoredRow>): Promise<void> {
  const missing = [...rows].filter(([, row]) => readRow(row['session']) === undefined).map(([id]) => id);
  if (missing.length === 0) return;
  const found = await queryJson(query, sql.traces, [JSON.stringify(missing)]);
  for (const trace of readRows(found['traces'])) rows.set(String(trace['id']), { ...rows.get(String(trace['id'])), ...trace });
}

const nameEffect = (phase: unknown, key: unknown): string => `${String(phase)} ${String(key)}`;

function readSession(id: string, row: StoredRow | undefined): ReadSession | undefined {
  const session = readRow(row?.['session']);
  const head = readRow(row?.['head']);
  if (row === undefined || (session === undefined && row['isNamed'] !== true)) return undefined;
  return {
    ...checks.readKnown(id, { session, head }),
    headerSum: Number(session?.['sum']),
    headSum: Number(head?.['sum']),
    answered: new Set(Array.isArray(row['answered']) ? row['answered'] : []),
    effectNames: new Set(readRows(row['effects']).map(({ phase, key }) => nameEffect(phase, key))),
    rewritten: new Map(readRows(row['entries']).map((entry) => [Number(entry['n']), entry])),
    mail: readRows(row['mail']),
  };
}

function readStoredEntry({ header, rewritten }: ReadSession, n: number): LogEntry {
  const row = rewritten.get(n);
  if (row === undefined) throw new SessionDamagedError(header.id, `entry ${n} is missing`);
  return checks.readEntry(header.id, row);
}

const findMail = ({ mail }: ReadSession, fits: (mail: Mail) => boolean): Mail | undefined => checks.readMail(mail).find(fits);

/** Returns the facts as a plan asks for them. */
export const createStoredFacts = ({ rows, workers }: Pick<Facts, 'rows' | 'workers'>): StoredFacts<ReadSession> => ({
  find: (sessionId) => readSession(sessionId, rows.get(sessionId)),
  findDeletion: (sessionId) => checks.findDeletion(sessionId, readRows(rows.get(sessionId)?.['tombstones'])),
  hasAnswer: ({ answered }, requestId) => answered.has(requestId),
  hasEffect: ({ effectNames }, { phase, key }) => effectNames.has(nameEffect(phase, key)),
  findEntry: readStoredEntry,
  findMail: (session, num) => findMail(session, (mail) => mail.num === num),
  findRequestMail: (session, requestId) => findMail(session, (mail) => mail.requestId === requestId),
  hasWorker: (id) => workers.some((worker) => worker.id === id),
});

const isOfAnother = (sessionId: string, { header, first }: StoredRow): boolean =>
  (isRecord(header) && header['id'] !== sessionId && isIntact('sessions', header)) ||
  (isRecord(first) && first['session_id'] !== sessionId && isIntact('log', first));

/** Finds the numbers of a session that is deleted. A number counts only if no intact row gives it to another session. */
export const findNumbers = ({ rows }: Facts, sessionId: string): readonly number[] =>
  readRows(rows.get(sessionId)?.['numbers'])
    .filter((number) => !isOfAnother(sessionId, number))
    .map(({ num }) => Number(num));
