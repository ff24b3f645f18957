import { assertNever } from '../../lib/index.ts';
import type { Message, Part } from '../../messages/index.ts';
import { toolResultText } from '../../messages/index.ts';

/** A part in words; undefined for what is no part of the talk. */
function partWords(part: Part): string | undefined {
  switch (part.type) {
    case 'text':
      return part.text === '' ? undefined : part.text;
    case 'image':
      return '[image]';
    case 'file':
      return `[file ${part.filename ?? part.mediaType}]`;
    case 'tool-call':
      return `[calls ${part.toolName}: ${part.rawArgs ?? JSON.stringify(part.args)}]`;
    case 'tool-result':
      return `[${part.toolName} gave: ${toolResultText(part.output)}]`;
    case 'source':
      return `[source ${part.title ?? part.url ?? part.filename ?? part.id}]`;
    case 'reasoning':
    case 'provider':
      return undefined;
    default:
      return assertNever(part);
  }
}

function messageWords({ role, name, parts }: Message): string {
  const words = parts.flatMap((part) => partWords(part) ?? []).join('\n');
  return words === '' ? '' : `${name === undefined ? role : `${role} (${name})`}: ${words}`;
}

/**
 * A conversation written down. Calls and results are told in words: a model that is offered no tools may be refused a conversation
 * that holds them.
 */
export function transcriptOf(messages: readonly Message[]): string {
  return messages
    .map(messageWords)
    .filter((words) => words !== '')
    .join('\n\n');
}
