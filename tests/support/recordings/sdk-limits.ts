// What the AI SDK's packages cannot express, although their providers can. Each entry names what cannot be said and how it comes out
// instead; the replay of recordings holds every occurrence against it, so an entry that no longer holds fails.
import type { ToolOutput } from '../../../src/messages/index.ts';
import { toolResultText } from '../../../src/messages/index.ts';
import type { WireApi } from '../../../src/testing/node/index.ts';

/** Something that a provider package cannot say. */
export interface SdkLimit {
  readonly api: WireApi;
  readonly reason: string;
  /** True for a recorded result that it cannot send. */
  readonly applies: (recorded: ToolOutput) => boolean;
  /** True for what it sends instead. */
  readonly isSentAs: (sent: ToolOutput, recorded: ToolOutput) => boolean;
}

function fileUrls(output: ToolOutput): readonly string[] {
  return output.type === 'content'
    ? output.parts.flatMap((part) => (part.type === 'text' || part.url === undefined ? [] : [part.url]))
    : [];
}

function textFiles(output: ToolOutput): readonly string[] {
  const parts = output.type === 'content' ? output.parts : [];
  return parts.flatMap((part) =>
    part.type === 'file' && part.mediaType.startsWith('text/') && part.data !== undefined
      ? [Buffer.from(part.data, 'base64').toString('utf8')]
      : [],
  );
}

/** All that is known of. */
export const sdkLimits: readonly SdkLimit[] = [
  {
    api: 'google',
    reason: '@ai-sdk/google cannot put a file by its address into a function response: it writes the part down as JSON text instead.',
    applies: (recorded) => fileUrls(recorded).length > 0,
    isSentAs: (sent, recorded) => sent.type === 'text' && fileUrls(recorded).every((url) => sent.value.includes(url)),
  },
  {
    api: 'google',
    reason: '@ai-sdk/google writes a result that holds a "$ref" down as JSON text, because Gemini would take it for one of its own.',
    applies: (recorded) => recorded.type === 'json' && JSON.stringify(recorded.value).includes('"$ref"'),
    isSentAs: (sent, recorded) => sent.type === 'text' && recorded.type === 'json' && sent.value === JSON.stringify(recorded.value),
  },
  {
    api: 'anthropic',
    reason: '@ai-sdk/anthropic leaves text files out of tool results, so the adapter sends their text instead.',
    applies: (recorded) => textFiles(recorded).length > 0,
    isSentAs: (sent, recorded) => textFiles(recorded).every((text) => toolResultText(sent).includes(text)),
  },
];
