// Mails in their table.
import type { KnownSession, Mail, MailQuery, SessionDraft } from '../index.ts';
import { parseMailQuery, toMailValues } from '../index.ts';
import type { Connection } from './connection.ts';
import { sql } from './sql.ts';
import type { SqliteValue } from './sqlite-database.ts';
import { checks, listColumnsSafely, withChecksum } from './tables.ts';

export const findMail = (db: Connection, session: KnownSession, num: number): Mail | undefined =>
  checks.readMail(db.all(sql.mail, session.num, num))[0];

export const findRequestMail = (db: Connection, { header }: KnownSession, requestId: string): Mail | undefined =>
  checks.readMail(db.all(sql.requestMail, header.id, requestId))[0];

/** Reads mails in the order in which they were posted. */
export function readMail(db: Connection, query: MailQuery): readonly Mail[] {
  const { sessionId, requestId, isWaiting, includesDamaged, limit } = parseMailQuery(query);
  const conditions = ['TRUE'];
  const values: SqliteValue[] = [];
  const add = (condition: string, value: string | undefined): void => {
    if (value === undefined) return;
    conditions.push(condition);
    values.push(value);
  };
  add('session_id = ?', sessionId);
  add('request_id = ?', requestId);
  if (isWaiting !== undefined) conditions.push(isWaiting ? 'reply IS NULL' : 'reply IS NOT NULL');
  const text = `SELECT ${listColumnsSafely('mail')} FROM mail WHERE ${conditions.join(' AND ')}
    ORDER BY mail.session, mail.num LIMIT ? OFFSET ?`;
  const found: Mail[] = [];
  for (let skip = 0; found.length < limit; skip += limit) {
    const rows = db.all(text, ...values, limit, skip);
    found.push(...checks.readMail(rows, includesDamaged));
    if (rows.length < limit) break;
  }
  return found.slice(0, limit);
}

/** Stores what a batch has changed of the mails of a session, inside its transaction. */
export function storeMail(db: Connection, session: number, { posted, mails }: Pick<SessionDraft, 'posted' | 'mails'>): void {
  for (const mail of posted) {
    // A damaged mail of the same request may be left.
    db.run(sql.dropRequestMail, mail.sessionId, mail.requestId);
    const left = mails.has(mail.num) ? mails.get(mail.num) : mail;
    if (left !== undefined) db.run(sql.addMail, ...withChecksum('mail', toMailValues(session, left)));
  }
  for (const [num, mail] of mails) {
    if (posted.some((each) => each.num === num)) continue;
    if (mail === undefined) db.run(sql.dropMail, session, num);
    else db.run(sql.setReply, ...withChecksum('mail', toMailValues(session, mail)).slice(-2), session, num);
  }
}
