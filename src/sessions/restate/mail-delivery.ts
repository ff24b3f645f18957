// How a mail gets from the store to the session.
// Owns:     what a turn is given for a mail, and which workers are told of it at once.
// M1. A mail is in the store before anybody is told of it. If nobody can be told, workers that live find it there a little later.
// M2. A turn gets the mails before it too: mails of one session that are posted at the same time are applied in the order of the store.
// M3. A worker that runs the session is told at once. One that the copy does not name yet gets the mail with its next report.
import { countBytes } from '../../lib/index.ts';
import type { Mail, SessionStore } from '../index.ts';
import { cutBySize } from './change-size.ts';
import { findWorkers } from './desk-copy.ts';
import type { TurnInput } from './protocol.ts';

/** Number of mails that a turn is given, and their size in bytes: its own, and those before it. It reads more of them itself. */
const maxMails = 10;
const maxBytes = 1024 * 1024;

/** Messages that deliver a mail. */
export interface Delivery {
  readonly turn: TurnInput & Required<Pick<TurnInput, 'mails'>>;
  /** Workers that run the session. */
  readonly workers: readonly string[];
}

/** Plans the delivery of a mail that is in the store. */
export async function planDelivery(list: SessionStore, { sessionId, num }: Mail): Promise<Delivery> {
  const waiting = (await list.readMail({ sessionId, isWaiting: true })).filter((each) => each.num <= num);
  const [mails = []] = cutBySize(waiting.toReversed().slice(0, maxMails), maxBytes, ({ body }) => countBytes(body));
  const hasMore = mails.length < waiting.length;
  const holds = (await list.readHolds()).map(({ id }) => id);
  return { turn: { mails: mails.toReversed(), holds, ...(hasMore && { hasMore }) }, workers: await findWorkers(list, sessionId) };
}
