// Connections of the pool, for one piece of work each.
// Owns:     the time limit of each answer, and whether a connection is used again.
// Does not: retry anything.
// C1. A connection that was lost, or on which no answer came in time, is closed and never used again.
// C2. An error event of a connection or of the pool never ends the process: whoever waits for an answer gets the error.
import { isRecord } from '../../lib/index.ts';
import type { StoredRow } from '../index.ts';
import type { TableWork } from '../table/index.ts';
import { isStorable } from './check-texts.ts';
import { getSqlState, isConnectionLost, LostCommitError, NoAnswerError } from './classify-error.ts';
import type { ParsedOptions } from './postgres-options.ts';
import type { PostgresClient } from './postgres-pool.ts';

/** Runs a statement. Without values it may be several statements, parted by semicolons. */
export type Query = (text: string, values?: unknown[]) => Promise<readonly StoredRow[]>;

type Timing = Pick<ParsedOptions, 'clock' | 'timeoutMs'>;

/** Rejects if the answer does not come in time. */
export function answerInTime<Value>(work: Promise<Value>, { clock, timeoutMs }: Timing): Promise<Value> {
  return new Promise((resolve, reject) => {
    const cancel = clock.schedule(timeoutMs, () => reject(new NoAnswerError(`no answer came within ${timeoutMs} ms`)));
    work.then(resolve, reject).finally(cancel);
  });
}

/** Listener for error events. Whoever waits for an answer gets the error. */
export const ignoreError = (): void => undefined;

/** Takes a connection from the pool. */
export async function connect(options: Timing & Pick<ParsedOptions, 'pool'>): Promise<PostgresClient> {
  const connecting = options.pool.connect();
  try {
    return await answerInTime(connecting, options);
  } catch (error) {
    // It may come yet, and belongs to the pool.
    connecting.then(
      (client) => client.release(),
      () => undefined,
    );
    throw error;
  }
}

/** True if nothing more can be done on a connection that failed with this error. */
const isUseless = (error: unknown): boolean =>
  // A server that only reads may have been the primary: another connection may lead to the new one.
  isConnectionLost(error) || error instanceof LostCommitError || getSqlState(error) === '25006';

/** Runs work on a connection of its own. Whatever it leaves open is rolled back if it fails. */
export async function withConnection<Value>(options: ParsedOptions, work: (query: Query) => Promise<Value>): Promise<Value> {
  const client = await connect(options);
  client.on?.('error', ignoreError);
  const query: Query = async (text, values) => {
    const result: unknown = await answerInTime(client.query(text, values), options);
    // For several statements pg gives a list of results.
    const last: unknown = Array.isArray(result) ? result.at(-1) : result;
    return readRows(isRecord(last) ? last['rows'] : undefined);
  };
  const release = (isLost: boolean): void => {
    // A connection that is being closed can still fail.
    if (!isLost) client.removeListener?.('error', ignoreError);
    client.release(isLost);
  };
  try {
    const value = await work(query);
    release(false);
    return value;
  } catch (error) {
    const isLost =
      isUseless(error) ||
      (await query('ROLLBACK').then(
        () => false,
        () => true,
      ));
    release(isLost);
    throw error;
  }
}

/** Runs a statement that answers with one JSON text: numbers and texts come as they are, whatever types the pool converts. */
export async function queryJson(query: Query, text: string, values?: unknown[]): Promise<StoredRow> {
  const [row] = await query(text, values);
  const found: unknown = JSON.parse(String(row?.['found']));
  return isRecord(found) ? found : {};
}

export const readRow = (value: unknown): StoredRow | undefined => (isRecord(value) ? value : undefined);
export const readRows = (value: unknown): readonly StoredRow[] => (Array.isArray(value) ? value.filter(isRecord) : []);

const wantedRows = 'json_to_recordset(?::json) AS w(id text, ref text, num bigint)';

/** Writes a value as a part of a statement, for messages of several statements, which have no values. */
export const toLiteral = (value: unknown): string =>
  typeof value === 'string' ? `E'${value.replaceAll(/['\\]/g, '$&$&')}'` : String(value);

/** Writes a text of the tables in the words of Postgres. `toValue`: writes the value of a place, from 0. */
export function render(schema: string, text: string, toValue = (place: number): string => `$${place + 1}`): string {
  let place = 0;
  return text
    .replaceAll('wanted(?)', wantedRows)
    .replaceAll(/\{\w+\}/g, '*')
    .replaceAll('@', `"${schema}".`)
    .replaceAll('?', () => toValue(place++));
}

/** One message: a statement in a transaction of its own, and another one that reads what it has left. */
const afterCommitted = (before: string, text: string): string => `BEGIN ISOLATION LEVEL READ COMMITTED; ${before}; COMMIT; ${text}`;

/** Does work on the tables. Each reading is one statement. */
export async function runWork<Value>(query: Query, schema: string, work: TableWork<Value>): Promise<Value> {
  let asked = work.next();
  while (asked.done !== true) {
    const { before, page, parts } = asked.value;
    const tables = [
      ...(page === undefined ? [] : [`page AS MATERIALIZED (${page.text})`]),
      ...parts.map(({ text }, at) => `p${at} AS (${text})`),
    ];
    const selected = parts.map((_, at) => `(SELECT json_agg(p${at}) FROM p${at})`);
    const text = `WITH ${tables.join(',\n')} SELECT json_build_object('rows', json_build_array(${selected.join(', ')}))::text AS found`;
    const given = [...(page?.values ?? []), ...parts.flatMap((part) => part.values)];
    // A name that cannot be stored belongs to nothing, and would be read as another name.
    const values = given.map((value) => (typeof value === 'string' && !isStorable(value) ? null : value));
    const { rows } =
      before === undefined
        ? await queryJson(query, render(schema, text), values)
        : await queryJson(
            query,
            afterCommitted(
              render(schema, before),
              render(schema, text, (place) => toLiteral(values[place])),
            ),
          );
    asked = work.next(Array.isArray(rows) ? rows.map(readRows) : []);
  }
  return asked.value;
}
