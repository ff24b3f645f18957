// Mails as anybody reads them.
// Owns:     finding them, and removing old replies.
// Does not: add or answer one: batches do.
import type { Mail, MailQuery } from '../index.ts';
import { parseMailQuery } from '../index.ts';
import type { Dialect } from './dialect.ts';
import type { Changed } from './driver.ts';
import { checks } from './rows.ts';
import type { TableWork } from './statement.ts';
import { joinConditions, ask, raw, sql } from './statement.ts';

/** Reads mails in the order in which they were posted. */
export function* readMail(query: MailQuery): TableWork<readonly Mail[]> {
  const { sessionId, requestId, isWaiting, includesDamaged, limit } = parseMailQuery(query);
  const conditions = [
    sessionId !== undefined && sql`session_id = ${sessionId}`,
    requestId !== undefined && sql`request_id = ${requestId}`,
    isWaiting !== undefined && raw(isWaiting ? 'reply IS NULL' : 'reply IS NOT NULL'),
  ];
  const where = joinConditions(conditions.filter((each) => each !== false));
  const found: Mail[] = [];
  for (let skip = 0; ; skip += limit) {
    const { rows } = yield* ask({
      rows: sql`SELECT {mail} FROM @mail WHERE ${where} ORDER BY mail.session, mail.num LIMIT ${limit} OFFSET ${skip}`,
    });
    found.push(...checks.readMail(rows, includesDamaged));
    if (rows.length < limit || found.length >= limit) return found.slice(0, limit);
  }
}

/** Removes replies to mails from before this time. Those that a batch works on are left for the next time. */
export function* pruneMail({ skipLocked }: Dialect, before: number): TableWork<Changed<void>> {
  const isOld = sql`reply IS NOT NULL AND at < ${before}`;
  yield* ask(
    { pruned: sql`DELETE FROM @mail WHERE ${isOld} AND (session, num) IN (SELECT session, num FROM page) RETURNING num` },
    sql`SELECT session, num FROM @mail WHERE ${isOld} ${raw(skipLocked)}`,
  );
  return { value: undefined };
}
