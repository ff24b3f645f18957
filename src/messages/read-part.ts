import type { ObjectReader } from '../lib/index.ts';
import { assertNever, DamagedDataError, omitUndefined, readObject } from '../lib/index.ts';
import type { ContentPart, FilePart, ImagePart, PartExtras, TextPart } from './content-part.ts';
import type { Part, ReasoningPart, ToolCallPart, ToolResultPart } from './parts.ts';
import type { ToolOutput } from './tool-result.ts';

const contentTypes: readonly ContentPart['type'][] = ['text', 'image', 'file'];
const partTypes: readonly Part['type'][] = [...contentTypes, 'reasoning', 'tool-call', 'tool-result', 'source', 'provider'];
const outputTypes: readonly ToolOutput['type'][] = ['text', 'json', 'content', 'error', 'rejected'];

type Draft<Fields> = { -readonly [Key in keyof Fields]: Fields[Key] };

function readExtras(reader: ObjectReader): PartExtras {
  return omitUndefined({ providerMetadata: reader.optionalJsonObject('providerMetadata') });
}

/** Adds the extras of a part. For parts that most messages have: nothing is made for a part without extras. */
function addExtras<Extended extends Draft<PartExtras>>(part: Extended, reader: ObjectReader): Extended {
  const providerMetadata = reader.optionalJsonObject('providerMetadata');
  if (providerMetadata !== undefined) part.providerMetadata = providerMetadata;
  return part;
}

function readToolCall(reader: ObjectReader): ToolCallPart {
  const part: Draft<ToolCallPart> = {
    type: 'tool-call',
    toolCallId: reader.string('toolCallId'),
    toolName: reader.string('toolName'),
    args: reader.json('args'),
  };
  const rawArgs = reader.optionalString('rawArgs');
  const providerExecuted = reader.optionalBoolean('providerExecuted');
  if (rawArgs !== undefined) part.rawArgs = rawArgs;
  if (providerExecuted !== undefined) part.providerExecuted = providerExecuted;
  return addExtras(part, reader);
}

function readToolResult(reader: ObjectReader): ToolResultPart {
  const part: Draft<ToolResultPart> = {
    type: 'tool-result',
    toolCallId: reader.string('toolCallId'),
    toolName: reader.string('toolName'),
    output: reader.value('output', readToolOutput),
  };
  const providerExecuted = reader.optionalBoolean('providerExecuted');
  if (providerExecuted !== undefined) part.providerExecuted = providerExecuted;
  return addExtras(part, reader);
}

function readImage(reader: ObjectReader): ImagePart {
  const url = reader.optionalString('url');
  const extras = { ...omitUndefined({ mediaType: reader.optionalString('mediaType') }), ...readExtras(reader) };
  return url === undefined ? { type: 'image', data: reader.string('data'), ...extras } : { type: 'image', url, ...extras };
}

function readFile(reader: ObjectReader): FilePart {
  const extras = {
    type: 'file' as const,
    mediaType: reader.string('mediaType'),
    ...omitUndefined({ filename: reader.optionalString('filename') }),
    ...readExtras(reader),
  };
  const [url, id] = [reader.optionalString('url'), reader.optionalString('id')];
  if (url !== undefined) return { ...extras, url };
  return id === undefined ? { ...extras, data: reader.string('data') } : { ...extras, id };
}

/** Reads the output of a tool call. */
export function readToolOutput(value: unknown, path: string): ToolOutput {
  const reader = readObject(value, path);
  const type = reader.oneOf('type', outputTypes);
  switch (type) {
    case 'text':
    case 'error':
      return { type, value: reader.string('value') };
    case 'json':
      return { type, value: reader.json('value') };
    case 'content':
      return { type, parts: reader.array('parts', readContentPart) };
    case 'rejected':
      return { type, reason: reader.string('reason') };
    default:
      return assertNever(type);
  }
}

/** Reads a part that a tool may show to a model: text, picture or file. */
export function readContentPart(value: unknown, path: string): ContentPart {
  const part = readPart(value, path);
  if (part.type === 'text' || part.type === 'image' || part.type === 'file') return part;
  throw new DamagedDataError(`${path}.type`, `expected one of "text", "image", "file", found "${part.type}"`);
}

const readers: { readonly [Type in Part['type']]: (reader: ObjectReader) => Extract<Part, { readonly type: Type }> } = {
  text: (reader) => addExtras<Draft<TextPart>>({ type: 'text', text: reader.string('text') }, reader),
  reasoning: (reader) => addExtras<Draft<ReasoningPart>>({ type: 'reasoning', text: reader.string('text') }, reader),
  image: readImage,
  file: readFile,
  'tool-call': readToolCall,
  'tool-result': readToolResult,
  source: (reader) => ({
    type: 'source',
    sourceType: reader.oneOf('sourceType', ['url', 'document']),
    id: reader.string('id'),
    ...omitUndefined({
      url: reader.optionalString('url'),
      title: reader.optionalString('title'),
      mediaType: reader.optionalString('mediaType'),
      filename: reader.optionalString('filename'),
    }),
    ...readExtras(reader),
  }),
  provider: (reader) => ({
    type: 'provider',
    provider: reader.string('provider'),
    data: reader.json('data'),
    ...readExtras(reader),
  }),
};

/** Reads a part; a type this version does not know is refused by name. */
export function readPart(value: unknown, path: string): Part {
  const reader = readObject(value, path);
  return readers[reader.oneOf('type', partTypes)](reader);
}
