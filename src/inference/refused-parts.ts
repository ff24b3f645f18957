// Attachments that a model refused: later requests have words in their place.
// Owns:     what stands in the place of a refused part.
// Does not: change the conversation, or keep anything: the state has the list.
import type { Failure } from '../errors/index.ts';
import type { Attachment, ContentPart, Message, Part } from '../messages/index.ts';
import { listAttachments, Messages, textPart, toAttachmentPath, toLeftOutText } from '../messages/index.ts';
import { Conversation } from './conversation.ts';

/** A part of a message that a model refused. Plain JSON: it is stored with the state. */
export interface RefusedPart {
  readonly messageId: string;
  /** `parts[1]`, or `parts[0].output.parts[2]` in the result of a tool. */
  readonly path: string;
  readonly reason: string;
}

/** Returns the list with the parts that a failure names; the same list if it names none. */
export function addRefusedParts(
  known: readonly RefusedPart[] | undefined,
  { refusedParts = [] }: Failure,
): readonly RefusedPart[] | undefined {
  const added = refusedParts.filter(
    ({ messageId, path }) => known?.some((part) => part.messageId === messageId && part.path === path) !== true,
  );
  return added.length === 0 ? known : [...(known ?? []), ...added];
}

type Replace = (part: Attachment, path: string) => string | undefined;

/** Returns a message with words in the place of some attachments; the same message if there are none. */
function replaceAttachments(message: Message, replace: Replace): Message {
  const words = new Map<Part, string>();
  for (const placed of listAttachments(message.parts)) {
    const text = replace(placed.part, toAttachmentPath(placed));
    if (text !== undefined) words.set(placed.part, text);
  }
  if (words.size === 0) return message;
  const toText = <Shown extends Part>(part: Shown): Shown | ContentPart => {
    const text = words.get(part);
    return text === undefined ? part : textPart(text);
  };
  return message.withParts(
    message.parts.map((part): Part => {
      if (part.type !== 'tool-result' || part.output.type !== 'content') return toText(part);
      return { ...part, output: { type: 'content', parts: part.output.parts.map(toText) } };
    }),
  );
}

/** Messages that were changed before, so that the next request has the same ones. */
const changed = new WeakMap<Message, { readonly key: string; readonly message: Message }>();

function replaceRefused(message: Message, refused: readonly RefusedPart[]): Message {
  const own = refused.filter(({ messageId }) => messageId === message.id);
  if (own.length === 0) return message;
  const key = JSON.stringify(own);
  const before = changed.get(message);
  if (before?.key === key) return before.message;
  const next = replaceAttachments(message, (part, path) => {
    const found = own.find((each) => each.path === path);
    return found === undefined ? undefined : toLeftOutText(part, found.reason);
  });
  changed.set(message, { key, message: next });
  return next;
}

/** Returns the messages of a request with words in the place of the parts that a model refused. */
export function leaveOutRefused<Asked extends Conversation | readonly Message[]>(
  messages: Asked,
  refused: readonly RefusedPart[] | undefined,
): Asked;
export function leaveOutRefused(
  messages: Conversation | readonly Message[],
  refused: readonly RefusedPart[] | undefined,
): Conversation | readonly Message[] {
  if (refused === undefined || refused.length === 0) return messages;
  const change = (message: Message): Message => replaceRefused(message, refused);
  if (!(messages instanceof Conversation)) return messages.map(change);
  return new Conversation(Messages.from(messages.messages.toArray().map(change)), messages.instructions);
}

/** An attachment of a conversation. */
export interface FoundAttachment {
  readonly message: Message;
  readonly part: Attachment;
  readonly path: string;
}

/** Lists all attachments of messages. */
export function findAttachments(messages: Iterable<Message>): readonly FoundAttachment[] {
  return Array.from(messages).flatMap((message) =>
    listAttachments(message.parts).map((placed) => ({ message, part: placed.part, path: toAttachmentPath(placed) })),
  );
}

/** Returns messages without their attachments, except one. */
export function keepOnly(messages: Iterable<Message>, kept?: FoundAttachment): Messages {
  const keep = (message: Message): Message =>
    replaceAttachments(message, (part, path) =>
      message === kept?.message && path === kept.path ? undefined : toLeftOutText(part, 'not sent'),
    );
  return Messages.from(Array.from(messages, keep));
}
