// The facts that the tasks of a batch are checked against.
// Owns:     reading them, in one statement.
// Does not: check anything.
// B2. The row with the epoch is locked from the first statement to the end: nobody can claim the store in between.
import { isRecord } from '../../lib/index.ts';
import type { KnownSession, LogEntry, Mail, SessionWrite, StoredFacts, StoredRow, StoreTask } from '../index.ts';
import { getSessionId, SessionDamagedError, StoreUnavailableError } from '../index.ts';
import type { Query } from './connection.ts';
import { queryJson, readRow, readRows } from './connection.ts';
import type { FactsNeeded, Sql } from './sql.ts';
import { checks, isIntact } from './tables.ts';

/** A session as it was read. */
export interface ReadSession extends KnownSession {
  readonly headerSum: number;
  readonly headSum: number;
  readonly answered: ReadonlySet<unknown>;
  readonly effectNames: ReadonlySet<string>;
  /** Rows of the entries that are rewritten, by their numbers. */
  readonly rewritten: ReadonlyMap<number, StoredRow>;
}

/** Facts as they were read. */
export interface Facts {
  readonly epoch: number;
  readonly lastNum: number;
  readonly rows: ReadonlyMap<string, StoredRow>;
  /** Mails that are answered. */
  readonly mail: ReadonlyMap<number, Mail>;
}

/** A session of the batch, and the rows of it that are needed besides its header. */
interface Wanted {
  readonly id: string;
  requests?: string[];
  effects?: boolean;
  /** Entries that are rewritten. */
  numbers?: number[];
  deletes?: boolean;
}

function addWrite(session: Wanted, { entries = [], effects = [], clearsEffects }: SessionWrite): void {
  const requests = entries.flatMap(({ requestId }) => requestId ?? []);
  if (requests.length > 0) (session.requests ??= []).push(...requests);
  if (effects.length > 0 && clearsEffects !== true) session.effects = true;
}

function listWanted(tasks: readonly StoreTask[]): readonly Wanted[] {
  const wanted = new Map<string, Wanted>();
  for (const task of tasks) {
    const id = getSessionId(task);
    if (id === undefined) continue;
    const session: Wanted = wanted.get(id) ?? { id };
    wanted.set(id, session);
    if (task.type === 'write') addWrite(session, task.write);
    else if (task.type === 'rewrite') (session.numbers ??= []).push(...task.rewrite.entries.map(({ n }) => n));
    else if (task.type === 'delete') session.deletes = true;
  }
  return [...wanted.values()];
}

/** Reads the facts for these tasks. */
export async function readFacts(query: Query, sql: Sql, tasks: readonly StoreTask[]): Promise<Facts> {
  const wanted = listWanted(tasks);
  const answered = tasks.flatMap((task) => (task.type === 'answer-mail' ? task.answer.num : []));
  const needed: FactsNeeded = {
    creates: tasks.some((task) => task.type === 'write' && task.write.after === 0),
    hasRequests: wanted.some(({ requests }) => requests !== undefined),
    hasEffects: wanted.some(({ effects }) => effects),
    rewrites: wanted.some(({ numbers }) => numbers !== undefined),
    deletes: wanted.some(({ deletes }) => deletes),
    answers: answered.length > 0,
  };
  const values = [JSON.stringify(wanted), ...(needed.answers ? [JSON.stringify(answered)] : [])];
  const found = await queryJson(query, sql.facts(needed), values);
  const epoch = readRow(found['epoch']);
  if (epoch === undefined || !isIntact('meta', epoch))
    throw new StoreUnavailableError('failed', 'the row with the current claim does not match its checksum');
  const rows = new Map(readRows(found['sessions']).map((row) => [String(row['id']), row]));
  if (!needed.creates) await addTraces(query, sql, rows);
  const mail = new Map(checks.readMail(readRows(found['mail'])).map((each) => [each.num, each]));
  return { epoch: Number(epoch['value']), lastNum: Number(found['lastNum']), rows, mail };
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
  };
}

function readStoredEntry({ header, rewritten }: ReadSession, n: number): LogEntry {
  const row = rewritten.get(n);
  if (row === undefined) throw new SessionDamagedError(header.id, `entry ${n} is missing`);
  return checks.readEntry(header.id, row);
}

/** Returns the facts as a plan asks for them. Mails and holds are added outside of batches. */
export const createStoredFacts = ({ rows, mail }: Facts): StoredFacts<ReadSession> => ({
  find: (sessionId) => readSession(sessionId, rows.get(sessionId)),
  findDeletion: (sessionId) => checks.findDeletion(sessionId, readRows(rows.get(sessionId)?.['tombstones'])),
  hasAnswer: ({ answered }, requestId) => answered.has(requestId),
  hasEffect: ({ effectNames }, { phase, key }) => effectNames.has(nameEffect(phase, key)),
  findEntry: readStoredEntry,
  findMail: (num) => mail.get(num),
  findRequestMail: () => undefined,
  findLastMail: () => 0,
});

const isOfAnother = (sessionId: string, { header, first }: StoredRow): boolean =>
  (isRecord(header) && header['id'] !== sessionId && isIntact('sessions', header)) ||
  (isRecord(first) && first['session_id'] !== sessionId && isIntact('log', first));

/** Finds the numbers of a session that is deleted. A number counts only if no intact row gives it to another session. */
export const findNumbers = ({ rows }: Facts, sessionId: string): readonly number[] =>
  readRows(rows.get(sessionId)?.['numbers'])
    .filter((number) => !isOfAnother(sessionId, number))
    .map(({ num }) => Number(num));
