// Selects the messages that are shown.
// W1. The newest are kept, in their order, never more than `max`.
// W2. System messages that open the conversation are kept too, if they take no more than half of the room.
// W3. A tool result follows its call: a result whose call is not shown is dropped. An observation, which is a result in plain words, belongs
//     to the assistant's last message.
// W4. Messages outside the window are not read, except for those that open the conversation.
import type { Message } from '../../messages/index.ts';

/** A list that can be read at any place. */
export interface MessageList {
  readonly length: number;
  at(index: number): Message | undefined;
}

/** True for the result of a call that a model made in plain words. */
export const isObservation = (message: Message): boolean => message.isUser() && message.metadata['purpose'] === 'observation';

/** The messages to show, and how many are not shown. */
export interface MessageWindow {
  readonly messages: readonly Message[];
  readonly dropped: number;
}

function countOpeningSystemMessages(messages: MessageList, max: number): number {
  const room = Math.floor(max / 2);
  let count = 0;
  while (count <= room && messages.at(count)?.isSystem() === true) count += 1;
  return count > room ? 0 : count;
}

function dropOrphans(window: readonly Message[]): readonly Message[] {
  const calls = new Set<string>();
  let hasSpoken = false;
  return window.flatMap((message) => {
    if (message.isAssistant()) hasSpoken = true;
    if (isObservation(message) && !hasSpoken) return [];
    const kept = message.parts.filter((part) => {
      if (part.type === 'tool-call') calls.add(part.toolCallId);
      return part.type !== 'tool-result' || calls.has(part.toolCallId);
    });
    if (kept.length === message.parts.length) return [message];
    return kept.length === 0 ? [] : [message.withParts(kept)];
  });
}

/** The part of a conversation that is shown. */
export function messageWindow(messages: MessageList, max: number): MessageWindow {
  const { length } = messages;
  const head = length <= max ? 0 : countOpeningSystemMessages(messages, max);
  const from = Math.max(head, length - max + head);
  const shown = Array.from({ length: head + length - from }, (_, index) => messages.at(index < head ? index : from + index - head));
  const window = dropOrphans(shown.filter((message) => message !== undefined));
  return { messages: window, dropped: length - window.length };
}
