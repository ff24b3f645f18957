import type { ContentPart, Message, Part } from '../../messages/index.ts';
import { toolResultText } from '../../messages/index.ts';
import type { ToolUseState } from '../../tool-use/index.ts';

const isContent = (part: Part): part is ContentPart => part.type === 'text' || part.type === 'image' || part.type === 'file';

/** Pictures and files by name: the critic reads words. */
const wordsOf = ({ parts }: Message): string => toolResultText({ type: 'content', parts: parts.filter(isContent) });

/**
 * What the user asked in this execution: everything since others last had the word. Requests that steps put into the conversation,
 * such as a critique, are not the user's.
 */
export function questionsOf({ messagesForInference: messages, steps }: ToolUseState): string {
  const own = new Set(steps.flatMap(({ outputMessages }) => outputMessages.map(({ id }) => id)));
  const others = messages.filter(({ id }) => !own.has(id));
  const before = others.findLastIndex((message) => message.isAssistant() || message.isTool());
  const asked = others.slice(before + 1).filter((message) => message.isUser() && message.metadata['purpose'] === undefined);
  return asked.length === 0 ? '(The question is no longer in the conversation.)' : asked.map(wordsOf).join('\n\n');
}
