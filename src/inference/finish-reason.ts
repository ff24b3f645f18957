/** Reason why a model ended its answer, in one vocabulary for all providers. */
export const FinishReason = {
  Stop: 'stop',
  Length: 'length',
  ToolCalls: 'tool_calls',
  ContentFilter: 'content_filter',
  Error: 'error',
  Other: 'other',
} as const;
export type FinishReason = (typeof FinishReason)[keyof typeof FinishReason];

/** Words of providers for each reason, in lower case and with underscores. */
const wordsByReason: Readonly<Record<FinishReason, readonly string[]>> = {
  stop: ['stop', 'complete', 'completed', 'end_turn', 'stop_sequence'],
  length: ['length', 'max_tokens', 'model_length', 'incomplete'],
  tool_calls: ['tool_call', 'tool_calls', 'tool_use'],
  content_filter: ['content_filter', 'refusal', 'safety', 'recitation', 'blocklist', 'prohibited_content', 'spii', 'language'],
  error: ['error', 'failed', 'malformed_function_call'],
  other: [],
};

const reasons: ReadonlyMap<string, FinishReason> = new Map(
  Object.values(FinishReason).flatMap((reason) =>
    wordsByReason[reason].flatMap((word) => [[word, reason] as const, [word.replaceAll('_', '-'), reason] as const]),
  ),
);

/** Reads any provider's word for the reason; an unknown word is `other`, no word at all is undefined. */
export function toFinishReason(word: string | null | undefined): FinishReason | undefined {
  if (word === null || word === undefined || word === '') return undefined;
  // Most words are known as they are written.
  return reasons.get(word) ?? reasons.get(word.toLowerCase().replaceAll('-', '_')) ?? FinishReason.Other;
}
