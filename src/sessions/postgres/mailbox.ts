// Mails as anybody reads them.
// Owns:     finding them, and removing old replies.
// Does not: add or answer one: batches do.
import type { Mail, MailQuery } from '../index.ts';
import { parseMailQuery } from '../index.ts';
import type { Query } from './connection.ts';
import { queryJson, readRows } from './connection.ts';
import { checks, inSchema } from './tables.ts';

/** Reads mails by their sessions and numbers. */
export async function readMail(query: Query, schema: string, asked: MailQuery): Promise<readonly Mail[]> {
  const { sessionId, requestId, isWaiting, includesDamaged, limit } = parseMailQuery(asked);
  const values: unknown[] = [limit];
  const conditions: string[] = [];
  if (sessionId !== undefined)
    conditions.push(`session = (SELECT num FROM ${inSchema(schema, 'sessions')} WHERE id = $${values.push(sessionId)})`);
  if (requestId !== undefined) conditions.push(`request_id = $${values.push(requestId)}`);
  // Written out, so that the index of waiting mails is used.
  if (isWaiting !== undefined) conditions.push(isWaiting ? 'reply IS NULL' : 'reply IS NOT NULL');
  conditions.push(`(session, num) > ($${values.length + 1}::bigint, $${values.length + 2}::bigint)`);
  const rows = `SELECT * FROM ${inSchema(schema, 'mail')} WHERE ${conditions.join(' AND ')} ORDER BY session, num LIMIT $1::bigint`;
  const text = `SELECT json_build_object('mail', (SELECT json_agg(m ORDER BY session, num) FROM (${rows}) m))::text AS found`;
  const mails: Mail[] = [];
  let last = [0, 0];
  for (;;) {
    const found = readRows((await queryJson(query, text, [...values, ...last]))['mail']);
    mails.push(...checks.readMail(found, includesDamaged));
    if (found.length < limit || mails.length >= limit) return mails.slice(0, limit);
    last = [Number(found.at(-1)?.['session']), Number(found.at(-1)?.['num'])];
  }
}

/** Removes replies to mails from before this time. Those that a batch works on are left for the next time. */
export async function pruneMail(query: Query, schema: string, before: number): Promise<void> {
  const mail = inSchema(schema, 'mail');
  const old = `SELECT session, num FROM ${mail} WHERE reply IS NOT NULL AND at < $1::double precision FOR UPDATE SKIP LOCKED`;
  await query(`DELETE FROM ${mail} WHERE (session, num) IN (${old})`, [before]);
}
