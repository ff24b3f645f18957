// Which messages are shown.
// W1. The newest are kept, in their order, never more than `max`.
// W2. System messages that open the conversation are kept too, where they take no more than half of the room.
// W3. A tool result stands behind its call: one whose call is not shown is dropped. An observation, which is a result in plain words, belongs
//     to what the assistant said last.
// W4. Messages outside the window are not looked at, except for those that open the conversation.
import type { Message } from '../../messages/index.ts';

/** As much of a list as is needed to look at one end of it. */
export interface MessageList {
  readonly length: number;
  at(index: number): Message | undefined;
}

/** True for what a model reads as the result of a call that it made in plain words. */
export const isObservation = (message: Message): boolean => message.isUser() && message.metadata['purpose'] === 'observation';

export interface MessageWindow {
  readonly messages: readonly Message[];
  readonly dropped: number;
}

function headLength(messages: MessageList, max: number): number {
  const room = Math.floor(max / 2);
  let length = 0;
  while (messages.at(length)?.isSystem() === true) {
    length += 1;
    if (length > room) return 0;
  }
  return length;
}

function withoutOrphans(window: readonly Message[]): readonly Message[] {
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

function slice(messages: MessageList, from: number, end: number): readonly Message[] {
  return Array.from({ length: end - from }, (_, index) => messages.at(from + index)).filter((message) => message !== undefined);
}

/** The messages to show of a conversation. */
export function messageWindow(messages: MessageList, max: number): MessageWindow {
  const { length } = messages;
  const head = length <= max ? 0 : headLength(messages, max);
  const from = Math.max(head, length - max + head);
  const window = withoutOrphans([...slice(messages, 0, head), ...slice(messages, from, length)]);
  return { messages: window, dropped: length - window.length };
}
