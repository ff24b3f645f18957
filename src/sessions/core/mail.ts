// Actions on their way to the worker.
// Owns:     the text of a mail, and how a mail is shown while it waits.
// Does not: post or apply anything.
// M1. The author and the action are checked by the process that posts a mail, and again by the one that applies it.
import { describeValue, omitUndefined, readJsonObject, readObject } from '../../lib/index.ts';
import type { Mail } from '../store/session-store.ts';
import type { ActionOrigin, ActionRequest, RecordedAction } from './action.ts';
import { parseActionOptions } from './parse-input.ts';
import { RequestReusedError, StoreUnavailableError } from './errors.ts';
import { isSameRequest } from './requests.ts';
import { fromWire } from './wire-errors.ts';

/** The content of a mail. */
export interface MailedAction extends ActionOrigin {
  readonly request: ActionRequest;
}

/** Writes the body of a mail. */
export const writeMail = ({ request, by, traceparent }: MailedAction): string => JSON.stringify({ request, by, traceparent });

/** Reads the body of a mail. Throws if its author may not act. */
export function readMailBody(body: string): MailedAction {
  const data = readObject(JSON.parse(body), 'mail');
  const by = { id: data.object('by').string('id'), kind: data.object('by').string('kind') };
  const origin = parseActionOptions({ by, ...omitUndefined({ traceparent: data.optionalString('traceparent') }) });
  data.object('request').string('type');
  // Holds: a runtime wrote it, and the store has checked that nothing was changed.
  return { request: data.object('request').raw as unknown as ActionRequest, ...origin };
}

/** Lists the mails that send a message, and were refused: they keep its content for whoever asks again. */
export const findRefusedSends = (mails: readonly Mail[], messageId: string): readonly Mail[] =>
  mails.filter(({ body, reply }) => {
    const request = reply === undefined ? undefined : readMailBody(body).request;
    return request?.type === 'send' && request.message['id'] === messageId;
  });

/** True if two mails ask for the same. */
export const isSameMail = (one: string, other: string): boolean => isSameRequest(readMailBody(one).request, readMailBody(other).request);

/** Reads the reply to a mail: the error that refused it. */
export const readReply = (reply: string): Error => fromWire(readJsonObject(JSON.parse(reply), 'reply'));

/** Throws if a worker has refused the same request, which another process had posted: the answer stays the same. */
export function assertNotRefused({ body, requestId, reply }: Mail, request: ActionRequest): void {
  if (reply === undefined) return;
  const { request: mailed } = readMailBody(body);
  const isSame = isSameRequest(mailed, request);
  throw isSame ? readReply(reply) : new RequestReusedError(requestId);
}

/** Returns the error for a mail whose row is damaged: it is never applied, and can be posted again. */
export function createDamagedMailError({ num, sessionId, requestId, damage = 'its row is damaged' }: Mail): StoreUnavailableError {
  const of = sessionId === '' ? '' : ` for session ${describeValue(sessionId)}`;
  const request = requestId === '' ? '' : `, request ${describeValue(requestId)}`;
  return new StoreUnavailableError('failed', {
    what: `action ${num} in the mailbox${of}${request} was not applied: ${damage}`,
    advice: 'Nothing else was changed. Send it again with the same request id.',
  });
}

/** Shows mails as actions, in their order. */
export const toMailedActions = (mails: readonly Mail[]): readonly RecordedAction[] =>
  mails.map(({ body, at, requestId, reply }) => {
    const { request, ...origin } = readMailBody(body);
    const refused = reply === undefined ? undefined : readReply(reply).message;
    return { ...request, ...origin, at, ...omitUndefined({ requestId, refused }) };
  });
