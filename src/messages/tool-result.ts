import type { Json, JsonObject } from '../lib/index.ts';
import { assertNever } from '../lib/index.ts';
import type { ContentPart } from './content-part.ts';

/** Output of a call: an answer in one of three forms, an error for the model to read, or a rejection. */
export type ToolOutput =
  | { readonly type: 'text'; readonly value: string }
  | { readonly type: 'json'; readonly value: Json }
  | { readonly type: 'content'; readonly parts: readonly ContentPart[] }
  | { readonly type: 'error'; readonly value: string }
  | { readonly type: 'rejected'; readonly reason: string };

/** The answer to one tool call. */
export interface ToolResult {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: ToolOutput;
  /** True if the provider ran the tool itself. */
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: JsonObject;
}

function contentPartText(part: ContentPart): string {
  switch (part.type) {
    case 'text':
      return part.text;
    case 'image':
      return `[image${part.mediaType === undefined ? '' : ` ${part.mediaType}`}]`;
    case 'file':
      return `[file ${part.filename ?? part.mediaType}]`;
    default:
      return assertNever(part);
  }
}

/** The output as text for readers that take nothing else: text as it is, other values as JSON, pictures and files by name. */
export function toolResultText(output: ToolOutput): string {
  switch (output.type) {
    case 'text':
    case 'error':
      return output.value;
    case 'json':
      return typeof output.value === 'string' ? output.value : JSON.stringify(output.value);
    case 'content':
      return output.parts.map(contentPartText).join('\n');
    case 'rejected':
      return output.reason === '' ? 'The call was rejected.' : `The call was rejected: ${output.reason}`;
    default:
      return assertNever(output);
  }
}
