import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import type { Usage } from '../../../messages/index.ts';

/** Returns usage in the words of the AI SDK. What a provider did not report stays unknown. */
export function toLanguageModelUsage({ input, output, cacheRead, cacheWrite, reasoning, unknownCalls = 0 }: Usage): LanguageModelV4Usage {
  const isUnknown = unknownCalls > 0 && input + output === 0;
  return {
    inputTokens: {
      total: isUnknown ? undefined : input,
      noCache: isUnknown ? undefined : Math.max(0, input - (cacheRead ?? 0) - (cacheWrite ?? 0)),
      cacheRead,
      cacheWrite,
    },
    outputTokens: {
      total: isUnknown ? undefined : output,
      text: isUnknown ? undefined : Math.max(0, output - (reasoning ?? 0)),
      reasoning,
    },
  };
}
