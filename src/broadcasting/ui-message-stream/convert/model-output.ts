// Results of calls, in the words of the AI SDK and in ours.
import type { ToolResultPart as ModelToolResultPart } from 'ai';
import type { Json } from '../../../lib/index.ts';
import { omitUndefined, readField } from '../../../lib/index.ts';
import type { ContentPart, ToolOutput } from '../../../messages/index.ts';
import { readFileContent, toFile } from './file-data.ts';

type ModelOutput = ModelToolResultPart['output'];
type ModelJson = Extract<ModelOutput, { type: 'json' }>['value'];
type ModelContent = Extract<ModelOutput, { type: 'content' }>['value'][number];

const getText = (part: ModelContent, key: string): string | undefined => {
  const value = readField(part, key);
  return typeof value === 'string' ? value : undefined;
};

// Read by name: the AI SDK has several older names for a file.
function fromContent(part: ModelContent): readonly ContentPart[] {
  const [type = '', text = '', url, mediaType, filename] = ['type', 'text', 'url', 'mediaType', 'filename'].map((key) =>
    getText(part, key),
  );
  if (type === 'text') return [{ type, text }];
  const content = readFileContent(url ?? readField(part, 'data'));
  const otherwise = type.startsWith('image') ? 'image' : 'application/octet-stream';
  return content === undefined ? [] : [toFile(content, { mediaType: mediaType ?? otherwise, filename }, {})];
}

/** Reads the result of a call. */
export function fromModelOutput(output: ModelOutput): ToolOutput {
  switch (output.type) {
    case 'text':
      return { type: 'text', value: output.value };
    case 'json':
      // Holds: a value of JSON in another package's words.
      return { type: 'json', value: output.value as Json };
    case 'error-text':
      return { type: 'error', value: output.value };
    case 'error-json':
      return { type: 'error', value: typeof output.value === 'string' ? output.value : JSON.stringify(output.value) };
    case 'execution-denied':
      return { type: 'rejected', reason: output.reason ?? '' };
    case 'content':
      return { type: 'content', parts: output.value.flatMap(fromContent) };
  }
}

/** Writes a file of a result. One that only its provider can read, or nobody, is named instead. */
function toContent(part: ContentPart): Extract<ModelContent, { type: 'text' | 'file' }> {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const filename = part.type === 'file' ? omitUndefined({ filename: part.filename }) : {};
  const mediaType = part.mediaType ?? 'image';
  if (part.url !== undefined && URL.canParse(part.url))
    return { type: 'file', data: { type: 'url', url: new URL(part.url) }, mediaType, ...filename };
  if (part.data !== undefined) return { type: 'file', data: { type: 'data', data: part.data }, mediaType, ...filename };
  return { type: 'text', text: `[file ${filename.filename ?? mediaType}]` };
}

/** Writes the result of a call. */
export function toModelOutput(output: ToolOutput): ModelOutput {
  switch (output.type) {
    case 'text':
      return { type: 'text', value: output.value };
    case 'json':
      return { type: 'json', value: output.value as ModelJson };
    case 'error':
      return { type: 'error-text', value: output.value };
    case 'rejected':
      return { type: 'execution-denied', ...(output.reason !== '' && { reason: output.reason }) };
    case 'content':
      return { type: 'content', value: output.parts.map(toContent) };
  }
}
