import type { ModelResponse } from '../inference/index.ts';
import type { IdSource } from '../lib/index.ts';
import { getKnownForm } from '../lib/index.ts';
import type { Part, ToolResultPart } from '../messages/index.ts';
import { createAnswerMessage, Message, toToolResult } from '../messages/index.ts';

/** An answer as messages: the assistant's, and the results of calls that came in the same answer. */
export interface AnswerMessages {
  readonly answer: Message;
  readonly results: readonly Message[];
}

const noResults: readonly Message[] = [];

// By index: engines are slow at the methods of frozen lists.
function hasResults(parts: readonly Part[]): boolean {
  for (let index = 0; index < parts.length; index += 1) if (parts[index]?.type === 'tool-result') return true;
  return false;
}

/**
 * Converts an answer to messages. The result of a call that the provider did not run itself is a message of its own, as it would
 * be if the call had run here: providers refuse a call without one. A later result of the same call replaces an earlier one.
 */
export function toAnswerMessages(response: Pick<ModelResponse, 'parts'>, ids: IdSource): AnswerMessages {
  const { parts } = response;
  if (!hasResults(parts)) {
    // A response that is known to be canonical is frozen, and all of its text can be stored.
    const isKnown = getKnownForm(response) !== undefined;
    return { answer: isKnown ? createAnswerMessage(parts, ids) : Message.assistant(parts, { ids }), results: noResults };
  }
  const ours = new Set(parts.flatMap((part) => (part.type === 'tool-call' && part.providerExecuted !== true ? [part.toolCallId] : [])));
  const isOurs = (part: Part): part is ToolResultPart => part.type === 'tool-result' && ours.has(part.toolCallId);
  const results = new Map(parts.filter(isOurs).map((part) => [part.toolCallId, part]));
  return {
    answer: Message.assistant(
      parts.filter((part) => !isOurs(part)),
      { ids },
    ),
    results: [...results.values()].map((part) => {
      const { providerExecuted: _, ...result } = toToolResult(part);
      return Message.tool(result, { ids });
    }),
  };
}
