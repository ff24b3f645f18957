import type { Mail, MailQuery, SessionStore } from '../../sessions/index.ts';
import { putHold, readHolds } from '../../sessions/index.ts';
import type { CopyStores } from './copy-session.ts';

/** Reads all mails, page by page. */
export async function* readAllMail(
  store: SessionStore,
  query: Pick<MailQuery, 'includesDamaged'> = {},
): AsyncGenerator<Mail, void, undefined> {
  for (let after = 0; ;) {
    const page = await store.inbox.read({ ...query, after });
    yield* page;
    const last = page.at(-1);
    // The number of a damaged one may be wrong.
    if (last === undefined || last.num <= after) return;
    after = last.num;
  }
}

/** Copies the mailbox in its order; a mail that is there already is not added again. Returns their number. */
export async function copyMail({ source, target, epoch }: CopyStores): Promise<number> {
  let count = 0;
  for await (const { sessionId, requestId, at, body, reply } of readAllMail(source)) {
    const { num } = await target.inbox.post({ sessionId, requestId, at, body });
    if (reply !== undefined) await target.inbox.answer({ epoch, num, reply });
    count += 1;
  }
  return count;
}

/** Lists the mails that the target lacks or has otherwise. */
export async function compareMail({ source, target }: Pick<CopyStores, 'source' | 'target'>): Promise<readonly string[]> {
  const different: string[] = [];
  for await (const { sessionId, requestId, body, reply } of readAllMail(source)) {
    const [found] = await target.inbox.read({ sessionId, requestId });
    if (found?.body !== body || found.reply !== reply) different.push(`mail ${requestId} of session ${sessionId}`);
  }
  return different;
}

/** Copies holds. Returns their number. */
export async function copyHolds({ source, target }: Pick<CopyStores, 'source' | 'target'>): Promise<number> {
  const holds = await readHolds(source.notes);
  for (const hold of holds) await putHold(target.notes, hold);
  return holds.length;
}
