import type { ContentPart, Part } from '../../messages/index.ts';
import { Message, textPart, toolResultText } from '../../messages/index.ts';

// In chat completions a result is text; the provider packages would write pictures and files down as JSON, data and all.

function filesIn(parts: readonly Part[]): readonly ContentPart[] {
  return parts.flatMap((part) => {
    if (part.type !== 'tool-result' || part.output.type !== 'content') return [];
    const files = part.output.parts.filter(({ type }) => type !== 'text');
    return files.length === 0 ? [] : [textPart(`What ${part.toolName} returned:`), ...files];
  });
}

function inWords(part: Part): Part {
  if (part.type !== 'tool-result' || part.output.type !== 'content') return part;
  return { ...part, output: { type: 'text', value: toolResultText(part.output) } };
}

/** Says results in words, and shows their pictures and files right after all the results of the turn, as if the user did. */
export function showFiles(messages: readonly Message[]): readonly Message[] {
  const shown: Message[] = [];
  let files: readonly ContentPart[] = [];
  const show = (): void => {
    if (files.length > 0) shown.push(Message.user(files, { id: 'shown-files' }));
    files = [];
  };
  for (const message of messages) {
    if (!message.isTool()) show();
    files = [...files, ...(message.isTool() ? filesIn(message.parts) : [])];
    shown.push(message.isTool() ? message.withParts(message.parts.map(inWords)) : message);
  }
  show();
  return shown;
}
