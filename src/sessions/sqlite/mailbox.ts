// Mails in their table.
import type { BatchPlan, Mail, MailQuery, NewMail } from '../index.ts';
import { parseMailQuery, toMailValues } from '../index.ts';
import type { Connection } from './connection.ts';
import { sql } from './sql.ts';
import type { SqliteValue } from './sqlite-database.ts';
import { checks, listColumnsSafely, withChecksum } from './tables.ts';

export const findMail = (db: Connection, num: number): Mail | undefined => checks.readMail(db.all(sql.mail, num))[0];

export const findRequestMail = (db: Connection, { sessionId, requestId }: NewMail): Mail | undefined =>
  checks.readMail(db.all(sql.requestMail, sessionId, requestId))[0];

/** Reads mails in the order in which they were posted. */
export function readMail(db: Connection, query: MailQuery): readonly Mail[] {
  const { sessionId, requestId, isWaiting, includesDamaged, after, limit } = parseMailQuery(query);
  const conditions = ['num > ?'];
  const values: SqliteValue[] = [after];
  const add = (condition: string, value: string | undefined): void => {
    if (value === undefined) return;
    conditions.push(condition);
    values.push(value);
  };
  add('session_id = ?', sessionId);
  add('request_id = ?', requestId);
  if (isWaiting !== undefined) conditions.push(isWaiting ? 'reply IS NULL' : 'reply IS NOT NULL');
  const text = `SELECT ${listColumnsSafely('mail')} FROM mail WHERE ${conditions.join(' AND ')} ORDER BY mail.num LIMIT ? OFFSET ?`;
  const found: Mail[] = [];
  for (let skip = 0; found.length < limit; skip += limit) {
    const rows = db.all(text, ...values, limit, skip);
    found.push(...checks.readMail(rows, includesDamaged));
    if (rows.length < limit) break;
  }
  return found.slice(0, limit);
}

/** Stores what a batch has changed of mails, inside its transaction. */
export function storeMail(db: Connection, { mail }: Pick<BatchPlan, 'mail'>): void {
  for (const posted of mail.posted) {
    // A damaged mail of the same request may be left.
    db.run(sql.dropRequestMail, posted.sessionId, posted.requestId);
    db.run(sql.addMail, ...withChecksum('mail', toMailValues(posted)));
  }
  for (const [num, changed] of mail.changed) {
    if (changed === undefined) db.run(sql.dropMail, num);
    else db.run(sql.setReply, ...withChecksum('mail', toMailValues(changed)).slice(-2), num);
  }
}
