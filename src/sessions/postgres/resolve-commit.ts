// The outcome of a commit whose answer was lost with the connection.
// Owns:     finding out whether the server carried it out.
// Does not: repeat anything.
// R1. The answer is final: "not kept" is only said once the lost transaction has ended, so that it cannot be kept later.
// R2. Each batch leaves its number in a row of its store, in the same transaction. No other store writes that row, so it tells the truth
//     whoever has written to the sessions since, and after a failover to a server that never got the batch. Nobody else is waited for.
import type { BatchOptions, TransactionId } from './batch.ts';
import type { Query } from './connection.ts';
import { queryJson } from './connection.ts';

/** True if the batch was kept. Rejects if the server cannot be reached, or the lost transaction does not end in time. */
export async function findOutcome(
  query: Query,
  { options, transaction }: { readonly options: BatchOptions; readonly transaction: TransactionId },
): Promise<boolean> {
  const { sql, token } = options;
  await query(sql.begin);
  // A server that has not noticed the loss waits for us, and would keep its locks meanwhile.
  await query(sql.endIdle, [transaction.pid, transaction.xid]);
  // The lost transaction holds that row until it has ended.
  const { batch } = await queryJson(query, sql.lastBatch, [token.writer]);
  await query('ROLLBACK');
  return batch === token.batch;
}
