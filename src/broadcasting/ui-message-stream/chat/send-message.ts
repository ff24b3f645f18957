// Messages of a page: new ones, edited ones, and those to be answered again.
// K1. A message that is sent twice is answered once: its id is the id of the request.
// K2. Editing a message and answering it again leave the session as it is, and continue in a fork from before that message, under the same
//     chat id. What the old session was doing is cancelled. Asked for twice at once, in two tabs for example, it is done once.
import type { Json, JsonObject } from '../../../lib/index.ts';
import { describeValue, InvalidArgumentError, isRecord, jsonEquals, readField, sha256 } from '../../../lib/index.ts';
import type { ContentPart } from '../../../messages/index.ts';
import { Message, readContentPart } from '../../../messages/index.ts';
import type { NewSession, Session, StoredEventOf } from '../../../sessions/index.ts';
import type { Caller } from '../../http/index.ts';
import { NotFoundError, toOrigin } from '../../http/index.ts';
import type { AnswerPlace } from './answer-places.ts';
import { isAnswerId, listAnswers } from './answer-places.ts';
import type { ChatServices } from './chat-options.ts';
import { findChat, toChatTags, toOwnTag } from './find-chat.ts';
import type { ChatPost } from './read-post.ts';

/** A page that sends something, and the body of its request. */
interface Sender {
  readonly services: ChatServices;
  readonly caller: Caller;
  readonly body: JsonObject;
  readonly chatId: string;
}

/** A message of a page. */
type NewMessage = Pick<Extract<ChatPost, { readonly type: 'message' }>, 'messageId' | 'content'>;

/** A message that was stored, and the end of its run. */
export interface SentMessage {
  readonly sessionId: string;
  readonly messageId: string;
  /** Number of the last event before it. */
  readonly fromSeq: number;
  readonly rest: Promise<unknown>;
}

/** The answer to a message that was sent before. */
export interface FoundAnswer {
  readonly sessionId: string;
  readonly place: AnswerPlace;
}

const withTags = ({ tags = [], ...session }: NewSession, more: readonly string[]): NewSession => ({
  ...session,
  tags: [...new Set([...tags, ...more])],
});

async function createSession({ services, caller, body, chatId }: Sender): Promise<Session> {
  const { runtime, gate, newSession } = services;
  const { by } = caller;
  const wishes = withTags(await newSession({ ...caller, action: 'create', body }), toChatTags(chatId, by));
  await gate.check(caller, { action: 'create', input: { newSession: { id: toOwnTag(chatId, by), ...wishes } } });
  try {
    // Two requests at once make one session.
    return await runtime.create({ id: toOwnTag(chatId, by), ...wishes }, toOrigin(caller));
  } catch (error) {
    const code = readField(error, 'code');
    if (wishes.id !== undefined || (code !== 'session-conflict' && code !== 'session-deleted')) throw error;
  }
  // Another request was faster; or the chat was deleted, and begins again.
  return (await findChat(services, caller, chatId)) ?? runtime.create(wishes, toOrigin(caller));
}

/** Reads the content of a stored message. */
const readContent = ({ content, text }: StoredEventOf<'UserMessageReceived'>): readonly ContentPart[] =>
  content?.map((part, index) => readContentPart(part, `content[${index}]`)) ?? [{ type: 'text', text }];

async function cancelSource({ services: { runtime, gate }, caller }: Sender, source: Session): Promise<void> {
  if (source.status !== 'in_progress' && source.status !== 'waiting') return;
  const reason = 'The conversation continues from an earlier message.';
  await gate.check(caller, { action: 'cancel', session: source, input: { reason } });
  await runtime.cancel(source.id, reason, { ...toOrigin(caller), until: 'accepted' }).catch(() => undefined);
}

/** A message that is to be answered again, with this content. */
interface RepeatedMessage {
  readonly place: AnswerPlace;
  readonly content: readonly ContentPart[];
}

/** Makes a session as it was before a message, for the same chat. */
async function forkBefore(sender: Sender, source: Session, { place: { message }, content }: RepeatedMessage): Promise<Session> {
  const { services, caller, body, chatId } = sender;
  const { runtime, gate, newSession } = services;
  const { by } = caller;
  const { agent: _, ...wishes } = await newSession({ ...caller, action: 'fork', body, source });
  const number = Number(message.executionId.slice(message.executionId.lastIndexOf('/') + 1));
  const at = { execution: number, step: message.stepNumber };
  const forked = { ...wishes, tags: [...new Set([...source.tags, ...(wishes.tags ?? []), ...toChatTags(chatId, by)])] };
  await gate.check(caller, { action: 'fork', session: source, input: { newSession: forked, at } });
  // What is sent to the fork is decided before anything is done to the session.
  await gate.check(caller, { action: 'send', session: source, input: { content, ...services.rules } });
  await cancelSource(sender, source);
  const fork = (more: { readonly requestId?: string }): Promise<Session> =>
    runtime.fork(source.id, at, { ...forked, ...toOrigin(caller), ...more });
  const asked = sha256(JSON.stringify([by.kind, by.id, message.id, content]));
  return fork({ requestId: `again/${asked}` }).catch((error: unknown) => {
    // The fork was deleted since, and its id is never used again.
    if (readField(error, 'code') === 'session-deleted') return fork({});
    throw error;
  });
}

async function send({ services, caller }: Sender, session: Session, { messageId, content }: NewMessage): Promise<SentMessage> {
  const { runtime, gate, rules } = services;
  const message = Message.user(content, { id: messageId });
  await gate.check(caller, { action: 'send', session, input: { content, ...rules } });
  const options = { ...toOrigin(caller), requestId: `message/${message.id}`, ...rules };
  await runtime.send(session.id, message, { ...options, until: 'accepted' });
  // The same request again: it has no effect, and settles when its run has ended or waits.
  const rest = runtime.send(session.id, message, { ...options, until: 'rest' });
  rest.catch(() => undefined);
  return { sessionId: session.id, messageId: message.id, fromSeq: session.lastSeq, rest };
}

// Holds: parts of content are JSON.
const toJson = (content: readonly ContentPart[]): Json => content as unknown as Json;

/** Answers a stored message again. Returns the place of its answer if another request was faster. */
async function sendAgain(sender: Sender, source: Session, repeated: RepeatedMessage): Promise<SentMessage | FoundAnswer> {
  const { place, content } = repeated;
  const forked = await forkBefore(sender, source, repeated);
  const known = (await listAnswers(sender.services.runtime, forked.id)).find(({ messageId }) => messageId === place.messageId);
  if (known !== undefined) return { sessionId: forked.id, place: known };
  return send(sender, forked, { messageId: place.messageId, content });
}

const createIdError = (messageId: string): InvalidArgumentError =>
  new InvalidArgumentError(
    `The id ${describeValue(messageId)} belongs to another message of this chat. Send the message under its own id.`,
  );

/** Sends a message of a page. Returns the place of its answer if it was sent before and has not changed. */
export async function sendMessage(sender: Sender, post: NewMessage, session: Session | undefined): Promise<SentMessage | FoundAnswer> {
  const { messageId, content } = post;
  // Checked before a session is made for it.
  const message = Message.user(content, { id: messageId });
  if (isAnswerId(messageId)) throw createIdError(messageId);
  if (session === undefined) return send(sender, await createSession(sender), post);
  const answers = await listAnswers(sender.services.runtime, session.id);
  const known = answers.find((each) => each.messageId === message.id);
  if (known === undefined) {
    if (session.state.messages.some(({ id }) => id === message.id)) throw createIdError(messageId);
    return send(sender, session, post);
  }
  const isSame = jsonEquals(toJson(readContent(known.message)), toJson(content));
  if (isSame && known === answers.at(-1)) return { sessionId: session.id, place: known };
  return sendAgain(sender, session, { place: known, content });
}

/** Answers a message of a page again. */
export async function regenerate(sender: Sender, messageId: string, session: Session | undefined): Promise<SentMessage | FoundAnswer> {
  const answers = session === undefined ? [] : await listAnswers(sender.services.runtime, session.id);
  const known = answers.find((each) => each.messageId === messageId);
  if (session === undefined || known === undefined) throw new NotFoundError(`message "${messageId}" in this chat`);
  return sendAgain(sender, session, { place: known, content: readContent(known.message) });
}

export const isSent = (result: SentMessage | FoundAnswer): result is SentMessage => isRecord(result) && 'rest' in result;
