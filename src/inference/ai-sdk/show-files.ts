import type { ContentPart, Part } from '../../messages/index.ts';
import { Message, textPart, toolResultText } from '../../messages/index.ts';

// In chat completions a result is text; the provider packages would write pictures and files down as JSON, data and all.

function listFiles(parts: readonly Part[]): readonly ContentPart[] {
  return parts.flatMap((part) => {
    if (part.type !== 'tool-result' || part.output.type !== 'content') return [];
    const files = part.output.parts.filter(({ type }) => type !== 'text');
    return files.length === 0 ? [] : [textPart(`What ${part.toolName} returned:`), ...files];
  });
}

function toTextPart(part: Part): Part {
  if (part.type !== 'tool-result' || part.output.type !== 'content') return part;
  return { ...part, output: { type: 'text', value: toolResultText(part.output) } };
}

const hasContent = ({ parts }: Message): boolean => parts.some((part) => part.type === 'tool-result' && part.output.type === 'content');

/** Puts the results of one turn into words, and shows their pictures and files after them, as if the user did. */
export function showFiles(results: readonly Message[]): readonly Message[] {
  if (!results.some(hasContent)) return results;
  const files = results.flatMap(({ parts }) => listFiles(parts));
  const told = results.map((message) => message.withParts(message.parts.map(toTextPart)));
  return files.length === 0 ? told : [...told, Message.user(files, { id: 'shown-files' })];
}
