import { anthropicWire } from './wire-anthropic.ts';
import type { WireApi } from '../../../src/testing/node/index.ts';
import type { Wire } from './wire-conversation.ts';
import { googleWire } from './wire-google.ts';
import { openAiChatWire } from './wire-openai-chat.ts';
import { openAiResponsesWire } from './wire-openai-responses.ts';

const wires: Readonly<Record<WireApi, Wire>> = {
  'openai-responses': openAiResponsesWire,
  'openai-chat': openAiChatWire,
  'openai-completion': openAiChatWire,
  anthropic: anthropicWire,
  google: googleWire,
};

/** Reader of a wire format. */
export const getWire = (api: WireApi): Wire => wires[api];
