/** Why a model stopped talking, in one vocabulary for all providers. */
export const FinishReason = {
  Stop: 'stop',
  Length: 'length',
  ToolCalls: 'tool_calls',
  ContentFilter: 'content_filter',
  Error: 'error',
  Other: 'other',
} as const;
export type FinishReason = (typeof FinishReason)[keyof typeof FinishReason];

const { Stop, Length, ToolCalls, ContentFilter, Error, Other } = FinishReason;

const words: Readonly<Record<string, FinishReason>> = {
  stop: Stop,
  complete: Stop,
  completed: Stop,
  end_turn: Stop,
  stop_sequence: Stop,
  length: Length,
  max_tokens: Length,
  model_length: Length,
  incomplete: Length,
  tool_call: ToolCalls,
  tool_calls: ToolCalls,
  tool_use: ToolCalls,
  content_filter: ContentFilter,
  refusal: ContentFilter,
  safety: ContentFilter,
  recitation: ContentFilter,
  blocklist: ContentFilter,
  prohibited_content: ContentFilter,
  spii: ContentFilter,
  language: ContentFilter,
  error: Error,
  failed: Error,
  malformed_function_call: Error,
};

/** Reads any provider's word for it; an unknown word is `other`, no word at all is undefined. */
export function toFinishReason(word: string | null | undefined): FinishReason | undefined {
  if (word === null || word === undefined || word === '') return undefined;
  const plain = word.toLowerCase().replaceAll('-', '_');
  return Object.hasOwn(words, plain) ? words[plain] : Other;
}
