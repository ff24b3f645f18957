// One transaction for everything that was queued since the last one.
// Owns:     reading the facts that writes are checked against, and storing those that fit.
// Does not: begin or end the transaction, or settle any promise.
// B1. However many sessions there are: one statement to read, one to write.
// B2. The row with the epoch is locked from the first statement to the end: nobody can claim the store in between.
// B3. A row that another transaction changed since it was read is not written over: the whole batch is refused, and tried again.
import { jsonEquals } from '../../lib/index.ts';
import type { BatchPlan, KnownSession, SessionDraft, StoredFacts, StoredRow, StoreTask, StoreTaskResult } from '../index.ts';
import { planHolder, planWrite, storedColumns, StoreUnavailableError, toEffectValues, toEntryValues, toHeaderValues } from '../index.ts';
import type { StoredTable } from '../index.ts';
import { RowChangedError, toSessionError, toStoreError } from './classify-error.ts';
import type { Query } from './connection.ts';
import { queryJson, readRow, readRows } from './connection.ts';
import { findHolder, setHolder } from './holder.ts';
import type { Sql } from './sql.ts';
import { recordset } from './sql.ts';
import { checks, inSchema, isIntact, selected, typedColumns, withChecksum } from './tables.ts';

/** A session as it was read. */
interface ReadSession extends KnownSession {
  readonly headerSum: number;
  readonly headSum: number;
  readonly answered: ReadonlySet<unknown>;
  readonly effectNames: ReadonlySet<string>;
}

interface Facts {
  readonly epoch: number;
  readonly lastNum: number;
  readonly rows: ReadonlyMap<string, StoredRow>;
}

/** The store that a batch belongs to, and the number of the batch. */
export interface BatchToken {
  readonly writer: string;
  readonly batch: number;
}

/** The transaction of a batch, as the server knows it. */
export interface TransactionId {
  readonly pid: number;
  readonly xid: string;
}

export interface BatchOptions {
  readonly schema: string;
  readonly sql: Sql;
  readonly token: BatchToken;
}

/** A batch that is ready to be committed. */
export interface PreparedBatch {
  readonly results: readonly StoreTaskResult[];
  /** Absent if there is nothing to commit. */
  readonly transaction?: TransactionId;
}

interface Wanted {
  readonly id: string;
  requests?: string[];
  effects?: boolean;
}

function listWanted(tasks: readonly StoreTask[]): readonly Wanted[] {
  const wanted = new Map<string, Wanted>();
  for (const task of tasks) {
    if (task.type !== 'write' && task.type !== 'quarantine') continue;
    const id = task.type === 'write' ? task.write.sessionId : task.sessionId;
    const session: Wanted = wanted.get(id) ?? { id };
    wanted.set(id, session);
    if (task.type !== 'write') continue;
    const { entries = [], effects = [], clearsEffects } = task.write;
    const requests = entries.flatMap(({ requestId }) => requestId ?? []);
    if (requests.length > 0) (session.requests ??= []).push(...requests);
    if (effects.length > 0 && clearsEffects !== true) session.effects = true;
  }
  return [...wanted.values()];
}

async function readFacts(query: Query, sql: Sql, tasks: readonly StoreTask[]): Promise<Facts> {
  const wanted = listWanted(tasks);
  const creates = tasks.some((task) => task.type === 'write' && task.write.after === 0);
  const text = sql.facts({
    isClaim: tasks.some(({ type }) => type === 'claim'),
    creates,
    hasRequests: wanted.some(({ requests }) => requests !== undefined),
    hasEffects: wanted.some(({ effects }) => effects),
  });
  const found = await queryJson(query, text, [JSON.stringify(wanted)]);
  const epoch = readRow(found['epoch']);
  if (epoch === undefined || !isIntact('meta', epoch))
    throw new StoreUnavailableError('failed', 'the row that says who may write does not match its checksum');
  const rows = new Map(readRows(found['sessions']).map((row) => [String(row['id']), row]));
  if (!creates) await markNamed(query, sql, rows);
  return { epoch: Number(epoch['value']), lastNum: Number(found['lastNum']), rows };
}

/** Marks sessions that have entries and no header: those are damaged, and not unknown. */
async function markNamed(query: Query, sql: Sql, rows: Map<string, StoredRow>): Promise<void> {
  const missing = [...rows].filter(([, row]) => readRow(row['session']) === undefined).map(([id]) => id);
  if (missing.length === 0) return;
  const { named } = await queryJson(query, sql.named, [JSON.stringify(missing)]);
  for (const id of Array.isArray(named) ? named.map(String) : []) rows.set(id, { ...rows.get(id), isNamed: true });
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
  };
}

const createStoredFacts = ({ rows }: Facts): StoredFacts<ReadSession> => ({
  find: (sessionId) => readSession(sessionId, rows.get(sessionId)),
  hasAnswer: ({ answered }, requestId) => answered.has(requestId),
  hasEffect: ({ effectNames }, { phase, key }) => effectNames.has(nameEffect(phase, key)),
});

type JsonRow = Readonly<Record<string, unknown>>;

/** A row for `json_to_recordset`. */
function toJsonRow(table: StoredTable, values: Parameters<typeof withChecksum>[1]): JsonRow {
  const row: Record<string, unknown> = {};
  const names: readonly string[] = storedColumns[table];
  for (const [index, value] of withChecksum(table, values).entries()) row[names[index] ?? 'sum'] = value;
  return row;
}

/** Rows to be written. */
interface Changes {
  readonly added: { readonly [Table in 'sessions' | 'heads' | 'session_tags' | 'log' | 'effects']: JsonRow[] };
  readonly headers: JsonRow[];
  readonly heads: JsonRow[];
  /** Sessions whose tags are replaced. */
  readonly retagged: number[];
  /** Sessions whose effects are dropped. */
  readonly cleared: number[];
}

function addDraft(changes: Changes, draft: SessionDraft<ReadSession>, newNum: () => number): void {
  const { added } = changes;
  const { before, header, head } = draft;
  const num = before?.num ?? newNum();
  const kept = draft.dropsEffects ? 0 : (before?.effects ?? 0);
  const effects = kept + draft.effects.length;
  const headRow = toJsonRow('heads', [num, head, effects]);
  let isTagged = false;
  if (before === undefined) {
    added.sessions.push(toJsonRow('sessions', toHeaderValues(num, header)));
    added.heads.push(headRow);
    isTagged = true;
  } else {
    if (header !== before.header) {
      changes.headers.push({ ...toJsonRow('sessions', toHeaderValues(num, header)), old_sum: before.headerSum });
      isTagged = !jsonEquals(header.tags, before.header.tags);
      if (isTagged) changes.retagged.push(num);
    }
    if (before.head !== head || before.effects !== effects) changes.heads.push({ ...headRow, old_sum: before.headSum });
    if (draft.dropsEffects && before.effects > 0) changes.cleared.push(num);
  }
  if (isTagged) for (const tag of new Set(header.tags)) added.session_tags.push(toJsonRow('session_tags', [num, tag]));
  for (const [index, effect] of draft.effects.entries())
    added.effects.push(toJsonRow('effects', toEffectValues(num, kept + index + 1, effect)));
  for (const entry of draft.entries) added.log.push(toJsonRow('log', toEntryValues({ num, id: header.id }, entry)));
}

function toChanges(drafts: Iterable<SessionDraft<ReadSession>>, lastNum: number): Changes {
  const changes: Changes = {
    added: { sessions: [], heads: [], session_tags: [], log: [], effects: [] },
    headers: [],
    heads: [],
    retagged: [],
    cleared: [],
  };
  let num = lastNum;
  for (const draft of drafts) addDraft(changes, draft, () => (num += 1));
  return changes;
}

/** Collects the parts of one statement; each has its rows as a parameter. */
function createStatement(schema: string) {
  const parts: string[] = [];
  const values: unknown[] = [];
  const addPart = (name: string, text: string): void => void parts.push(`${name} AS (${text})`);
  return {
    values,
    addPart,
    insert: (table: StoredTable, rows: readonly JsonRow[]): void => {
      if (rows.length === 0) return;
      const source = recordset(values.push(JSON.stringify(rows)), typedColumns(table));
      addPart(`add_${table}`, `INSERT INTO ${inSchema(schema, table)} (${selected(table)}) SELECT ${selected(table)} FROM ${source}`);
    },
    /** Counts the rows that were updated under the given name. */
    update: (table: StoredTable, key: string, rows: readonly JsonRow[]): void => {
      if (rows.length === 0) return;
      const source = recordset(values.push(JSON.stringify(rows)), `${typedColumns(table)}, old_sum bigint`);
      const columns = [...storedColumns[table].filter((column) => column !== key), 'sum'];
      const set = columns.map((column) => `${column} = r.${column}`).join(', ');
      const where = `t.${key} = r.${key} AND t.sum = r.old_sum`;
      addPart(`set_${table}`, `UPDATE ${inSchema(schema, table)} t SET ${set} FROM ${source} WHERE ${where} RETURNING 1`);
    },
    remove: (table: StoredTable, sessions: readonly number[]): void => {
      if (sessions.length === 0) return;
      const list = `SELECT json_array_elements_text($${values.push(JSON.stringify(sessions))}::json)::bigint`;
      addPart(`drop_${table}`, `DELETE FROM ${inSchema(schema, table)} WHERE session IN (${list})`);
    },
    toText: (selection: string): string => `WITH ${parts.join(',\n')} SELECT json_build_object(${selection})::text AS found`,
  };
}

/** Rows of writers that have not written for longer than this are of no use to anybody. */
const forgottenAfter = '7 days';

/** Writes all changes in one statement. */
async function storeChanges(
  query: Query,
  { schema, token }: BatchOptions,
  changes: Changes & { readonly epoch?: number },
): Promise<TransactionId> {
  const { added, headers, heads, retagged, cleared, epoch } = changes;
  const statement = createStatement(schema);
  const { values, addPart } = statement;
  statement.insert('sessions', added.sessions);
  statement.update('sessions', 'num', headers);
  statement.insert('heads', added.heads);
  statement.update('heads', 'session', heads);
  statement.remove('session_tags', retagged);
  statement.insert('session_tags', added.session_tags);
  statement.insert('log', added.log);
  statement.remove('effects', cleared);
  statement.insert('effects', added.effects);
  const writers = inSchema(schema, 'writers');
  const [id, batch] = [values.push(token.writer), values.push(token.batch)];
  addPart(
    'add_writer',
    `INSERT INTO ${writers} (id, batch) VALUES ($${id}, $${batch}::bigint)
      ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, written_at = excluded.written_at`,
  );
  if (epoch !== undefined) {
    const [, , checksum = 0] = withChecksum('meta', ['epoch', epoch]);
    const [value, sum] = [values.push(epoch), values.push(checksum)];
    addPart('claim', `UPDATE ${inSchema(schema, 'meta')} SET value = $${value}::bigint, sum = $${sum}::bigint WHERE name = 'epoch'`);
    addPart('forget_writers', `DELETE FROM ${writers} WHERE written_at < now() - interval '${forgottenAfter}' AND id <> $${id}`);
  }
  const count = (name: string, rows: readonly unknown[]): string => (rows.length === 0 ? '0' : `(SELECT count(*) FROM ${name})`);
  const found = await queryJson(
    query,
    statement.toText(`'headers', ${count('set_sessions', headers)}, 'heads', ${count('set_heads', heads)},
      'pid', pg_backend_pid(), 'xid', pg_current_xact_id()::xid::text`),
    values,
  );
  if (found['headers'] !== headers.length || found['heads'] !== heads.length)
    throw new RowChangedError('a row was changed between reading and writing it');
  return { pid: Number(found['pid']), xid: String(found['xid']) };
}

async function noteDamage(
  query: Query,
  sql: Sql,
  { sessionId, damage, num }: { sessionId: string; damage: string | undefined; num: unknown },
): Promise<boolean> {
  if (damage === undefined) await query(sql.dropQuarantine, [sessionId]);
  else if (typeof num === 'number') await query(sql.addQuarantine, [...withChecksum('quarantine', [sessionId, num, damage])]);
  else return false;
  return true;
}

/** Runs the tasks inside a transaction, up to its commit. */
export async function runBatch(query: Query, options: BatchOptions, tasks: readonly StoreTask[]): Promise<PreparedBatch> {
  const { sql } = options;
  const facts = await readFacts(query, sql, tasks);
  const asksForHolder = tasks.some(({ type }) => type !== 'write' && type !== 'quarantine');
  const holder = asksForHolder ? (await findHolder(query, sql)).row : undefined;
  const plan: BatchPlan<ReadSession> = { epoch: facts.epoch, holder, facts: createStoredFacts(facts), drafts: new Map() };
  const results: StoreTaskResult[] = [];
  let hasNotes = false;
  for (const task of tasks) {
    try {
      if (task.type === 'write') planWrite(plan, task.write);
      else if (task.type !== 'quarantine') planHolder(plan, task);
      else {
        const num = readRow(facts.rows.get(task.sessionId)?.['session'])?.['num'];
        hasNotes = (await noteDamage(query, sql, { ...task, num })) || hasNotes;
      }
      results.push({ ok: true, epoch: plan.epoch });
    } catch (error) {
      // A failed statement has ended the transaction.
      if (task.type === 'quarantine') throw error;
      results.push({ ok: false, error: task.type === 'write' ? toSessionError(task.write.sessionId, error) : toStoreError(error) });
    }
  }
  const isClaim = plan.epoch !== facts.epoch;
  if (plan.changesHolder === true) await setHolder(query, sql, plan.holder);
  else if (plan.drafts.size === 0 && !hasNotes) return { results };
  const changes = toChanges(plan.drafts.values(), facts.lastNum);
  return { results, transaction: await storeChanges(query, options, isClaim ? { ...changes, epoch: plan.epoch } : changes) };
}
