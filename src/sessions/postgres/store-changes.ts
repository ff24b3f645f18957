// All changes of a batch in one statement.
// Owns:     its text and its values.
// Does not: know what the rows mean.
// B1. However many sessions there are: one round trip to lock them, one to read, one to write.
// B3. A row that another transaction changed since it was read is not written over: the whole batch is refused, and tried again.
import { jsonEquals } from '../../lib/index.ts';
import type { StoredTable } from '../index.ts';
import type { Change } from '../table/index.ts';
import { listColumns, RowChangedError } from '../table/index.ts';
import type { Query } from './connection.ts';
import { queryJson } from './connection.ts';
import { inSchema, typedColumns } from './tables.ts';

/** The transaction of a batch, as the server knows it. */
export interface TransactionId {
  readonly pid: number;
  readonly xid: string;
}

/** A batch of a store: who stores it, and its number. */
export interface BatchOptions {
  readonly schema: string;
  readonly writer: string;
  readonly batch: number;
}

/** Rows of writers that have not written for longer than this are of no use to anybody. */
const forgottenAfter = '7 days';

type Values = Change['values'];
type Row = Readonly<Record<string, Values[number] | undefined>>;

function toRow(columns: readonly string[], values: Values): Record<string, Values[number] | undefined> {
  const row: Record<string, Values[number] | undefined> = {};
  for (let at = 0; at < columns.length; at += 1) row[columns[at] ?? ''] = values[at];
  return row;
}

/** Columns that say whether a row is still as it was read. The sum of a head leaves its lease out. */
const getGuards = (table: StoredTable): readonly string[] => (table === 'heads' ? ['sum', 'fence'] : ['sum']);

/** Changes of one kind: of the rows of a table, or of those in which some columns have given values. */
interface Group {
  readonly type: Change['type'];
  readonly table: StoredTable;
  readonly columns: readonly string[];
  readonly rows: Row[];
}

function groupChanges(changes: readonly Change[]): readonly Group[] {
  const groups = new Map<string, Group>();
  for (const change of changes) {
    const { type, table, values } = change;
    const columns = type === 'remove' ? change.columns : listColumns(table);
    const name = `${type} ${table} ${type === 'remove' ? columns.join(' ') : ''}`;
    const group = groups.get(name) ?? { type, table, columns, rows: [] };
    groups.set(name, group);
    const row = toRow(columns, values);
    if (type === 'set') for (const guard of getGuards(table)) row[`old_${guard}`] = change.before[columns.indexOf(guard)];
    group.rows.push(row);
  }
  return [...groups.values()];
}

/** Parts of a statement, with the values of all. */
interface Statement {
  readonly parts: string[];
  readonly values: unknown[];
  /** Expressions for the numbers of updated rows, each with the number that is right. */
  readonly counts: (readonly [string, number])[];
}

function addGroup({ parts, values, counts }: Statement, schema: string, { type, table, columns, rows }: Group): void {
  const name = inSchema(schema, table);
  const list = columns.join(', ');
  const source = `json_to_recordset($${values.push(JSON.stringify(rows))}::json) AS r(${typedColumns(table, columns).replaceAll(' COLLATE "C"', '')}`;
  if (type === 'add') {
    const conflict = table === 'quarantine' ? ' ON CONFLICT DO NOTHING' : '';
    parts.push(`add_${table} AS (INSERT INTO ${name} (${list}) SELECT ${list} FROM ${source})${conflict})`);
  } else if (type === 'remove') {
    parts.push(`drop_${parts.length} AS (DELETE FROM ${name} WHERE (${list}) IN (SELECT ${list} FROM ${source})))`);
  } else {
    const keys = columns.slice(0, table === 'log' || table === 'mail' ? 2 : 1);
    const set = columns.slice(keys.length).map((column) => `${column} = r.${column}`);
    const guards = getGuards(table);
    const where = [...keys.map((key) => `t.${key} = r.${key}`), ...guards.map((guard) => `t.${guard} = r.old_${guard}`)].join(' AND ');
    const old = guards.map((guard) => `old_${guard} bigint`).join(', ');
    parts.push(`set_${table} AS (UPDATE ${name} t SET ${set.join(', ')} FROM ${source}, ${old}) WHERE ${where} RETURNING 1)`);
    counts.push([`(SELECT count(*) FROM set_${table})`, rows.length]);
  }
}

function createStatement(schema: string, changes: readonly Change[]): Statement {
  const statement: Statement = { parts: [], values: [], counts: [] };
  for (const group of groupChanges(changes)) addGroup(statement, schema, group);
  return statement;
}

/** Writes all changes. */
export async function storeChanges(
  query: Query,
  { schema, writer, batch }: BatchOptions,
  changes: readonly Change[],
): Promise<TransactionId> {
  const isFirst = (each: Change): boolean => each.type === 'remove' && each.isFirst === true;
  const first = createStatement(schema, changes.filter(isFirst));
  if (first.parts.length > 0) await query(`WITH ${first.parts.join(', ')} SELECT 1`, first.values);
  const { parts, values, counts } = createStatement(
    schema,
    changes.filter((each) => !isFirst(each)),
  );
  const place = (value: unknown): string => `$${values.push(value)}`;
  const writers = inSchema(schema, 'writers');
  const id = place(writer);
  parts.push(`add_writer AS (INSERT INTO ${writers} (id, batch) VALUES (${id}, ${place(batch)}::bigint)
    ON CONFLICT (id) DO UPDATE SET batch = excluded.batch, written_at = excluded.written_at)`);
  if (batch === 1)
    parts.push(`forget_writers AS (DELETE FROM ${writers} WHERE written_at < now() - interval '${forgottenAfter}' AND id <> ${id})`);
  const found = await queryJson(
    query,
    `WITH ${parts.join(',\n')} SELECT json_build_object('counts', json_build_array(${counts.map(([count]) => count).join(', ')}), 'pid', pg_backend_pid(), 'xid', pg_current_xact_id()::xid::text)::text AS found`,
    values,
  );
  const expected = counts.map(([, rows]) => rows);
  if (!jsonEquals(found['counts'], expected)) throw new RowChangedError('a row was changed between reading and writing it');
  return { pid: Number(found['pid']), xid: String(found['xid']) };
}
