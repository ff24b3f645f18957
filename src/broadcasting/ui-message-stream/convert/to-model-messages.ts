// Messages of a conversation as model messages of the AI SDK.
import type { AssistantModelMessage, ModelMessage, ToolModelMessage, UserModelMessage } from 'ai';
import type { JsonObject } from '../../../lib/index.ts';
import { isRecord, omitUndefined } from '../../../lib/index.ts';
import type { FilePart, ImagePart, Message, Part, PartExtras } from '../../../messages/index.ts';
import { toModelOutput } from './model-output.ts';

type ProviderOptions = NonNullable<ModelMessage['providerOptions']>;
type AssistantPart = Exclude<AssistantModelMessage['content'], string>[number];
type UserPart = Exclude<UserModelMessage['content'], string>[number];

// Holds: what a provider has sent is an object of objects, by provider.
const toOptions = (options: JsonObject): ProviderOptions => options as unknown as ProviderOptions;

const toExtras = ({ providerMetadata }: PartExtras): { readonly providerOptions?: ProviderOptions } =>
  providerMetadata === undefined ? {} : { providerOptions: toOptions(providerMetadata) };

type FileData = { readonly type: 'url'; readonly url: URL } | { readonly type: 'data'; readonly data: string };

/** Content of a file; undefined if only its provider can read it, or nobody. */
function toData(part: ImagePart | FilePart): FileData | undefined {
  if (part.url !== undefined) return URL.canParse(part.url) ? { type: 'url', url: new URL(part.url) } : undefined;
  return part.data === undefined ? undefined : { type: 'data', data: part.data };
}

function toFile(part: ImagePart | FilePart): readonly Extract<UserPart, { type: 'file' }>[] {
  const data = toData(part);
  if (data === undefined) return [];
  const filename = part.type === 'file' ? omitUndefined({ filename: part.filename }) : {};
  return [{ type: 'file', data, mediaType: part.mediaType ?? 'image', ...filename, ...toExtras(part) }];
}

function toUserParts(part: Part): readonly UserPart[] {
  if (part.type === 'text') return [{ type: 'text', text: part.text, ...toExtras(part) }];
  return part.type === 'image' || part.type === 'file' ? toFile(part) : [];
}

const isKind = (kind: unknown): kind is `${string}.${string}` => typeof kind === 'string' && kind.includes('.');

function toAssistantParts(part: Part): readonly AssistantPart[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return [{ type: part.type, text: part.text, ...toExtras(part) }];
    case 'image':
    case 'file':
      return toFile(part);
    case 'tool-call': {
      const { toolCallId, toolName, args: input, providerExecuted } = part;
      return [{ type: 'tool-call', toolCallId, toolName, input, ...omitUndefined({ providerExecuted }), ...toExtras(part) }];
    }
    case 'tool-result':
      return toResults(part);
    case 'provider': {
      const kind = isRecord(part.data) ? part.data['kind'] : undefined;
      return isKind(kind) ? [{ type: 'custom', kind, ...toExtras(part) }] : [];
    }
    // What an answer rests on is for readers, not for models.
    case 'source':
      return [];
  }
}

function toResults(part: Part): readonly Extract<ToolModelMessage['content'][number], { type: 'tool-result' }>[] {
  if (part.type !== 'tool-result') return [];
  const { toolCallId, toolName, output } = part;
  return [{ type: 'tool-result', toolCallId, toolName, output: toModelOutput(output), ...toExtras(part) }];
}

function toModelMessage(message: Message): ModelMessage {
  const { role, parts, text } = message;
  const options = message.providerOptions === undefined ? {} : { providerOptions: toOptions(message.providerOptions) };
  switch (role) {
    case 'system':
    case 'developer':
      return { role: 'system', content: text, ...options };
    case 'user':
      return { role, content: parts.flatMap(toUserParts), ...options };
    case 'assistant':
      return { role, content: parts.flatMap(toAssistantParts), ...options };
    case 'tool':
      return { role, content: parts.flatMap(toResults), ...options };
  }
}

/** Converts messages of a conversation to model messages of the AI SDK, one for one. Ids, names and metadata have no place there. */
export const toModelMessages = (messages: Iterable<Message>): ModelMessage[] => [...messages].map(toModelMessage);
