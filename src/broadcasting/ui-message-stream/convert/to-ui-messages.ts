// Messages of a conversation as UI messages.
// U1. All that an assistant did between two messages of a person is one UI message; each of its messages is a step.
import type { UIMessage } from 'ai';
import type { Message, ToolCall, ToolResult } from '../../../messages/index.ts';
import { toToolCall } from '../../../messages/index.ts';
import type { UIToolState } from './ui-parts.ts';
import { toExtras, toUIOutput, toUIParts } from './ui-parts.ts';

type UIPart = UIMessage['parts'][number];

/** Results by the id of their call, each taken once: ids may be used again. */
class Results {
  readonly #results: ToolResult[];

  constructor(messages: readonly Message[]) {
    this.#results = messages.flatMap(({ toolResults }) => toolResults);
  }

  take(callId: string): ToolResult | undefined {
    const index = this.#results.findIndex(({ toolCallId }) => toolCallId === callId);
    return index === -1 ? undefined : this.#results.splice(index, 1)[0];
  }
}

function toToolPart(call: ToolCall, result: ToolResult | undefined): UIPart {
  const { id, name, args, rawArgs, providerExecuted, providerMetadata } = call;
  const waiting: UIToolState = { state: 'input-available', input: args };
  const state = result === undefined ? waiting : toUIOutput(result.output, id, args);
  const unread = rawArgs !== undefined && state.state === 'output-error' ? { rawInput: rawArgs } : {};
  const { providerMetadata: called } = toExtras(providerMetadata === undefined ? {} : { providerMetadata });
  const { providerMetadata: answered } = toExtras(
    result?.providerMetadata === undefined ? {} : { providerMetadata: result.providerMetadata },
  );
  const isOver = state.state === 'output-available' || state.state === 'output-error';
  return {
    type: `tool-${name}`,
    toolCallId: id,
    ...state,
    ...unread,
    ...(providerExecuted !== undefined && { providerExecuted }),
    ...(called !== undefined && { callProviderMetadata: called }),
    ...(answered !== undefined && isOver && { resultProviderMetadata: answered }),
  };
}

function toStep(message: Message, results: Results): readonly UIPart[] {
  const parts = message.parts.flatMap((part): readonly UIPart[] =>
    part.type === 'tool-call' ? [toToolPart(toToolCall(part), results.take(part.toolCallId))] : toUIParts(part),
  );
  return [{ type: 'step-start' }, ...parts];
}

const hasMetadata = ({ metadata }: Message): boolean => Object.keys(metadata).length > 0;

function toAssistant(messages: readonly Message[]): readonly UIMessage[] {
  const spoken = messages.filter((message) => message.isAssistant());
  const [first] = spoken;
  if (first === undefined) return [];
  // A provider that runs a tool answers in the same message.
  const results = new Results(messages);
  const metadata = hasMetadata(first) ? { metadata: first.metadata } : {};
  return [{ id: first.id, role: 'assistant', ...metadata, parts: spoken.flatMap((message) => toStep(message, results)) }];
}

function toOther(message: Message): UIMessage {
  const metadata = hasMetadata(message) ? { metadata: message.metadata } : {};
  return {
    id: message.id,
    role: message.isUser() ? 'user' : 'system',
    ...metadata,
    parts: message.parts.flatMap((part) => toUIParts(part)),
  };
}

/** Converts messages of a conversation to UI messages, as `useChat` shows them. */
export function toUIMessages(messages: Iterable<Message>): UIMessage[] {
  const converted: UIMessage[] = [];
  let turn: Message[] = [];
  for (const message of messages) {
    if (message.isAssistant() || message.isTool()) {
      turn.push(message);
      continue;
    }
    converted.push(...toAssistant(turn), toOther(message));
    turn = [];
  }
  return [...converted, ...toAssistant(turn)];
}
