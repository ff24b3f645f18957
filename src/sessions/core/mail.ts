// Actions on their way to the worker.
// Owns:     the text of a mail, and how a mail is shown while it waits.
// Does not: post or apply anything.
// M1. The author and the action are checked by the process that posts a mail, and again by the one that applies it.
import { describeValue, jsonEquals, omitUndefined, present, readJsonObject, readObject } from '../../lib/index.ts';
import type { Mail } from '../store/session-store.ts';
import type { Action, ActionRequest, Actor, ForkPoint, RecordedAction } from './action.ts';
import { parseActionOptions } from './parse-input.ts';
import { RequestReusedError } from './request-reused-error.ts';
import { isSameRequest } from './requests.ts';
import type { SessionFacts } from './session.ts';
import type { NewSession } from './session-runtime.ts';
import { StoreUnavailableError } from './store-unavailable-error.ts';
import { fromWire } from './wire-errors.ts';

/** An action that a client asks the worker for. */
export type MailedRequest =
  | Exclude<ActionRequest, { readonly type: 'create' | 'fork' }>
  | { readonly type: 'create'; readonly session: NewSession }
  | { readonly type: 'fork'; readonly from: ForkPoint; readonly session: Omit<NewSession, 'agent'> }
  | { readonly type: 'delete'; readonly forks?: boolean };

/** The content of a mail. */
export interface MailedAction {
  readonly request: MailedRequest;
  readonly by: Actor;
}

/** Writes the body of a mail. */
export const writeMail = ({ request, by }: MailedAction): string => JSON.stringify({ request, by });

/** Reads the body of a mail. Throws if its author may not act. */
export function readMailBody(body: string): MailedAction {
  const data = readObject(JSON.parse(body), 'mail');
  const { by } = parseActionOptions({ by: { id: data.object('by').string('id'), kind: data.object('by').string('kind') } });
  data.object('request').string('type');
  // Holds: a runtime wrote it, and the store has checked that nothing was changed.
  return { request: data.object('request').raw as unknown as MailedRequest, by };
}

const isMakingRequest = (request: MailedRequest): request is Extract<MailedRequest, { readonly type: 'create' | 'fork' | 'delete' }> =>
  request.type === 'create' || request.type === 'fork' || request.type === 'delete';

/** True if a mail asks to erase a message. */
export function isErasure({ body }: Pick<Mail, 'body'>): boolean {
  try {
    return readMailBody(body).request.type === 'erase';
  } catch {
    // Whoever applies it says what is wrong with it.
    return false;
  }
}

/** Lists the mails that send a message, and were refused: they keep its content for whoever asks again. */
export const findRefusedSends = (mails: readonly Mail[], messageId: string): readonly Mail[] =>
  mails.filter(({ body, reply }) => {
    const request = reply === undefined ? undefined : readMailBody(body).request;
    return request?.type === 'send' && request.message['id'] === messageId;
  });

/** True if two mails ask for the same. The author counts only if a session is created. */
export function isSameMail(one: string, other: string): boolean {
  const [a, b] = [readMailBody(one), readMailBody(other)];
  if (isMakingRequest(a.request) || isMakingRequest(b.request))
    return jsonEquals(present({ ...a.request }), present({ ...b.request })) && jsonEquals({ ...a.by }, { ...b.by });
  return isSameRequest(a.request, b.request);
}

/** True if a session was created by what a mail asks for: by the same author, with the same wishes. */
export function isCreatedBy({ request, by }: MailedAction, facts: SessionFacts, creation: Action): boolean {
  if (request.type !== creation.type || (request.type !== 'create' && request.type !== 'fork')) return false;
  const { tenant, owner, tags } = request.session;
  const isSame = jsonEquals({ ...by }, { ...creation.by });
  if (request.type === 'create')
    return (
      isSame &&
      (request.session.agent === undefined || request.session.agent === facts.agent.id) &&
      tenant === facts.tenant &&
      owner === facts.owner &&
      jsonEquals([...(tags ?? [])], [...facts.tags])
    );
  // What a fork does not ask for is that of its source.
  return (
    isSame &&
    jsonEquals({ ...request.from }, { ...facts.forkedFrom }) &&
    (tenant === undefined || tenant === facts.tenant) &&
    (owner === undefined || owner === facts.owner) &&
    (tags === undefined || jsonEquals([...tags], [...facts.tags]))
  );
}

function toAction({ request, by }: MailedAction, at: number): Action | undefined {
  if (request.type === 'delete') return undefined;
  if (request.type === 'create') return { type: 'create', by, at };
  if (request.type === 'fork') return { type: 'fork', from: request.from, by, at };
  return { ...request, by, at };
}

/** Reads the reply to a mail: the error that refused it. */
export const readReply = (reply: string): Error => fromWire(readJsonObject(JSON.parse(reply), 'reply'));

/** Throws if a worker has refused the same request, which another process had posted: the answer stays the same. */
export function assertNotRefused({ body, requestId, reply }: Mail, request: ActionRequest): void {
  if (reply === undefined) return;
  const { request: mailed } = readMailBody(body);
  const isSame = mailed.type !== 'create' && mailed.type !== 'fork' && mailed.type !== 'delete' && isSameRequest(mailed, request);
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

/** Shows mails as actions, in their order. A deletion is not shown: nothing will be left to show it in. */
export function toMailedActions(mails: readonly Mail[]): readonly RecordedAction[] {
  return mails.flatMap(({ body, at, requestId, reply }) => {
    const action = toAction(readMailBody(body), at);
    const refused = reply === undefined ? undefined : readReply(reply).message;
    return action === undefined ? [] : [{ ...action, ...omitUndefined({ requestId, refused }) }];
  });
}
