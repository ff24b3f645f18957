// Model messages of the AI SDK as messages of a conversation.
import type { ModelMessage } from 'ai';
import type { IdSource, Json, JsonObject } from '../../../lib/index.ts';
import { omitUndefined, systemIds } from '../../../lib/index.ts';
import type { Part } from '../../../messages/index.ts';
import { Message, MessageRole } from '../../../messages/index.ts';
import { readFileContent, toFile } from './file-data.ts';
import { fromModelOutput } from './model-output.ts';

type ModelPart = Exclude<ModelMessage['content'], string>[number];

// Holds: options of a provider are JSON, in another package's words.
const toExtras = (options: unknown): { readonly providerMetadata?: JsonObject } =>
  options === undefined ? {} : { providerMetadata: options as JsonObject };

function toParts(part: ModelPart): readonly Part[] {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return [{ type: part.type, text: part.text, ...toExtras(part.providerOptions) }];
    case 'image':
    case 'file': {
      const content = readFileContent(part.type === 'image' ? part.image : part.data);
      return content === undefined ? [] : [toFile(content, part, toExtras(part.providerOptions))];
    }
    case 'tool-call': {
      const { toolCallId, toolName, input, providerExecuted } = part;
      // Holds: the input of a call is JSON.
      const args = (input ?? null) as Json;
      return [{ type: 'tool-call', toolCallId, toolName, args, ...omitUndefined({ providerExecuted }), ...toExtras(part.providerOptions) }];
    }
    case 'tool-result': {
      const { toolCallId, toolName } = part;
      return [{ type: 'tool-result', toolCallId, toolName, output: fromModelOutput(part.output), ...toExtras(part.providerOptions) }];
    }
    case 'custom': {
      const [provider = part.kind] = part.kind.split('.');
      return [{ type: 'provider', provider, data: { type: 'custom', kind: part.kind }, ...toExtras(part.providerOptions) }];
    }
    // Requests and answers of approvals are not part of a conversation; their results are.
    default:
      return [];
  }
}

function fromModelMessage(message: ModelMessage, ids: IdSource): readonly Message[] {
  const { role, content, providerOptions } = message;
  const parts: readonly Part[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : content.flatMap((part: ModelPart) => toParts(part));
  // Holds: options of a provider are JSON.
  const options = providerOptions === undefined ? {} : { providerOptions: providerOptions as JsonObject };
  return parts.length === 0 ? [] : [Message.of(MessageRole[names[role]], parts, { ids, ...options })];
}

const names = { system: 'System', user: 'User', assistant: 'Assistant', tool: 'Tool' } as const;

/** Converts model messages to messages of a conversation. They get new ids. */
export function fromModelMessages(messages: readonly ModelMessage[], { ids = systemIds }: { readonly ids?: IdSource } = {}): Message[] {
  return messages.flatMap((message) => fromModelMessage(message, ids));
}
