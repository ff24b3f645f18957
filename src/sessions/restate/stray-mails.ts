// Mails that were put into the store of the desk directly, as the command line does.
import type { Context } from '@restatedev/restate-sdk';
import type { SessionStore } from '../index.ts';

/** Mails to look through at once. */
const maxMails = 200;

/** Place up to which the desk has looked through its mails. */
export interface MailLook {
  /** Mails up to this number have a turn. */
  readonly upTo: number;
  /** The last number that was found. */
  readonly seen: number;
}

/** A mail that has no turn yet. */
export interface StrayMail {
  readonly sessionId: string;
  readonly num: number;
}

/** Returns mails that waited at the last look and still wait, and how far this look went. A mail is returned once. */
export async function findStrayMails(
  ctx: Context,
  list: SessionStore,
  { upTo, seen }: MailLook = { upTo: 0, seen: 0 },
): Promise<{ readonly strays: readonly StrayMail[]; readonly look: MailLook }> {
  const found = await ctx.run('mails', async (): Promise<readonly StrayMail[]> => {
    const mails = await list.readMail({ isWaiting: true, after: upTo, limit: maxMails });
    return mails.map(({ sessionId, num }) => ({ sessionId, num }));
  });
  const strays = found.filter(({ num }) => num <= seen);
  return { strays, look: { upTo: seen, seen: found.at(-1)?.num ?? seen } };
}
