import type { JsonObject } from '../../lib/index.ts';

/** One piece of a message in the AI SDK's words. Its fields depend on its type and on the version. */
export interface PromptPart {
  readonly type: string;
  readonly providerOptions?: JsonObject;
  readonly [field: string]: unknown;
}

/** One message in the AI SDK's words. */
export interface PromptMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | readonly PromptPart[];
  readonly providerOptions?: JsonObject;
}

/** Puts what a provider wants to read again beside what it reads; nothing where there is nothing. */
export function withOptions<Value extends object>(
  value: Value,
  options: JsonObject | undefined,
): Value & { readonly providerOptions?: JsonObject } {
  return options === undefined ? value : { ...value, providerOptions: options };
}
