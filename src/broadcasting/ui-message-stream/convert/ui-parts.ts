// Parts of messages as parts of UI messages.
import type { DynamicToolUIPart, FileUIPart, ReasoningUIPart, SourceDocumentUIPart, SourceUrlUIPart, TextUIPart } from 'ai';
import type { JsonObject } from '../../../lib/index.ts';
import type { ContentPart, Part, PartExtras, ToolOutput } from '../../../messages/index.ts';
import { toFileUrl } from './file-data.ts';

/** Metadata of a provider, as the AI SDK types it. */
export type ProviderMetadata = NonNullable<TextUIPart['providerMetadata']>;

// Holds: what a provider has sent is an object of objects, by provider.
const toMetadata = (metadata: JsonObject): ProviderMetadata => metadata as unknown as ProviderMetadata;

/** Metadata of a part under the name that UI parts have for it. */
export const toExtras = ({ providerMetadata: metadata }: PartExtras): { readonly providerMetadata?: ProviderMetadata } =>
  metadata === undefined ? {} : { providerMetadata: toMetadata(metadata) };

/** Shows content. A file that only its provider can read is not shown. */
export function toUIContent(part: ContentPart): readonly (TextUIPart | FileUIPart)[] {
  if (part.type === 'text') return [{ type: 'text', text: part.text, ...toExtras(part) }];
  const url = toFileUrl(part);
  if (url === undefined) return [];
  const filename = part.type === 'file' && part.filename !== undefined ? { filename: part.filename } : {};
  return [{ type: 'file', mediaType: part.mediaType ?? 'image', url, ...filename, ...toExtras(part) }];
}

/** Shows a part that is not about a call. */
export function toUIParts(part: Part): readonly (TextUIPart | FileUIPart | ReasoningUIPart | SourceUrlUIPart | SourceDocumentUIPart)[] {
  switch (part.type) {
    case 'text':
    case 'image':
    case 'file':
      return toUIContent(part);
    case 'reasoning':
      return [{ type: 'reasoning', text: part.text, ...toExtras(part) }];
    case 'source': {
      const { id: sourceId, title, url, mediaType, filename } = part;
      const named = title === undefined ? {} : { title };
      if (part.sourceType === 'url' && url !== undefined) return [{ type: 'source-url', sourceId, url, ...named, ...toExtras(part) }];
      if (part.sourceType !== 'document' || mediaType === undefined) return [];
      const file = filename === undefined ? {} : { filename };
      return [{ type: 'source-document', sourceId, mediaType, title: title ?? '', ...file, ...toExtras(part) }];
    }
    default:
      return [];
  }
}

/** The fields of a tool part that say how its call ended. */
export function toUIOutput(output: ToolOutput, callId: string, input: unknown): UIToolState {
  switch (output.type) {
    case 'text':
    case 'json':
      return { state: 'output-available', input, output: output.value };
    case 'content':
      return { state: 'output-available', input, output: { type: 'content', value: output.parts.flatMap((part) => toUIContent(part)) } };
    case 'error':
      return { state: 'output-error', input, errorText: output.value };
    case 'rejected': {
      const reason = output.reason === '' ? {} : { reason: output.reason };
      return { state: 'output-denied', input, approval: { id: callId, approved: false, ...reason } };
    }
  }
}

type Fields = 'type' | 'toolName' | 'toolCallId' | 'title' | 'toolMetadata' | 'providerExecuted' | 'dynamic';
type WithoutNames<State> = State extends unknown ? Omit<State, Fields> : never;

/** The state of a call. */
export type UIToolState = WithoutNames<
  Extract<DynamicToolUIPart, { state: 'input-available' | 'output-available' | 'output-error' | 'output-denied' }>
>;
