import { findPendingToolCalls } from '../../../src/inference/index.ts';
import type { ModelResponse } from '../../../src/inference/index.ts';
import type { Message, Part, ToolCall } from '../../../src/messages/index.ts';

/** The ids of calls, from those of a recording to those of the replay. A provider that gives none makes the two differ. */
export type CallIds = ReadonlyMap<string, string>;

/** Messages of a recorded client after an answer. */
export interface NextMessages {
  readonly messages: readonly Message[];
  readonly ids: CallIds;
}

function pairCalls(pending: readonly ToolCall[], recorded: readonly ToolCall[]): CallIds | undefined {
  const pairs = pending.map((call, index) => [recorded.find(({ id }) => id === call.id) ?? recorded[index], call] as const);
  if (pairs.some(([found, call]) => found?.name !== call.name)) return undefined;
  return new Map(pairs.map(([found, call]) => [found?.id ?? '', call.id]));
}

function withId(part: Part, ids: CallIds, unnamed: ToolCall[]): Part {
  if (part.type !== 'tool-result') return part;
  if (part.toolCallId !== '') return { ...part, toolCallId: ids.get(part.toolCallId) ?? part.toolCallId };
  const call = unnamed.splice(
    Math.max(
      0,
      unnamed.findIndex(({ name }) => name === part.toolName),
    ),
    1,
  )[0];
  return { ...part, toolCallId: call?.id ?? '' };
}

function firstWords(messages: readonly Message[]): string {
  return messages.find((message) => message.isUser())?.text ?? '';
}

function afterCalls(next: readonly Message[], pending: readonly ToolCall[]): NextMessages | undefined {
  for (let index = next.length - 1; index >= 0; index -= 1) {
    const message = next[index];
    const found = message?.isAssistant() === true ? pairCalls(pending, message.toolCalls) : undefined;
    if (found === undefined) continue;
    const unnamed = [...pending];
    return {
      messages: next.slice(index + 1).map((each) => each.withParts(each.parts.map((part) => withId(part, found, unnamed)))),
      ids: found,
    };
  }
  return undefined;
}

/**
 * Returns the messages that the recorded client added after an answer: the results of its calls, a new turn, or both. Undefined
 * if the next request does not go on from here but begins anew.
 */
export function nextMessages(before: readonly Message[], response: ModelResponse, next: readonly Message[]): NextMessages | undefined {
  const pending = findPendingToolCalls(response);
  if (firstWords(before) !== firstWords(next)) return undefined;
  if (pending.length > 0) return afterCalls(next, pending);
  const last = next.findLastIndex((message) => message.isAssistant());
  return last === -1 ? undefined : { messages: next.slice(last + 1), ids: new Map() };
}
