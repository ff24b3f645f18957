import type { ProviderErrorFacts } from './provider-error-facts.ts';

const codes =
  /context_length|context_window|context_overflow|prompt_too_long|request_too_large|string_above_max_length|model_max_prompt_tokens/;

// One line per way in which a provider says that the conversation is too long.
const phrases: readonly RegExp[] = [
  /maximum context length/i, // OpenAI, OpenRouter, vLLM, DeepSeek
  /context[ _-]?(length|window|size)[^.]{0,60}(exceed|too|larger|over|limit)/i, // OpenAI responses, llama.cpp, Ollama
  /(exceed|larger than|over|beyond)[^.]{0,80}context[ _-]?(length|window|size|limit)/i, // Anthropic (input + max_tokens), LM Studio, MiniMax
  /prompt is too long/i, // Anthropic
  /input is too long/i, // Bedrock
  /input token count[^.]{0,60}exceeds/i, // Google
  /maximum prompt length/i, // xAI
  /too many (input )?tokens/i, // Mistral, Cohere
  /reduce the length of the (messages|prompt|input)/i, // Groq, OpenAI
  /(prompt|input|request)[^.]{0,60}tokens? (is|are)? ?(too (large|long|many)|exceed)/i, // Mistral, proxies
  /exceeds the (model's )?(available context|maximum (number of|allowed) tokens|token limit)/i,
];

/** True if a provider refused a conversation because it is too long for the model. Rate limits in tokens do not count. */
export function isContextOverflow({ status, words, message }: ProviderErrorFacts): boolean {
  if (status === 429 || status === 529 || (status !== undefined && status >= 500)) return false;
  if (words.some((word) => codes.test(word))) return true;
  return phrases.some((phrase) => phrase.test(message));
}
