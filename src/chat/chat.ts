// A chat: a conversation between named participants, one turn after the other.
import { describeValue } from '../lib/index.ts';
import { createEventBus } from '../events/index.ts';
import type { StateType } from '../step-by-step/index.ts';
import type { ChatEvent } from './chat-events.ts';
import { ChatState } from './chat-state.ts';
import { checkConversationOptions } from './check-options.ts';
import type { ContextOfParticipants, Conversation, ConversationOptions } from './conversation.ts';
import { createConversation } from './conversation.ts';
import { EveryoneHasSpoken } from './everyone-has-spoken.ts';
import type { Participant, ParsedWords } from './participant.ts';
import { viewMessages } from './view.ts';

/** Options of a chat. */
export interface ChatOptions<Given extends readonly Participant<never>[] = readonly Participant<never>[]> extends ConversationOptions<
  ChatState,
  ContextOfParticipants<Given>
> {
  /** Name of the chat in stored records. @default 'chat' */
  readonly id?: string;
  /** Participants in the order of their turns; each has a name of its own. */
  readonly participants: Given;
}

/** A chat, ready to be run. */
export interface Chat<Context = unknown> extends Conversation<ChatState, Context> {
  readonly name: 'chat';
  /** Returns the same chat with some of its options replaced; all others stay, its listeners too. */
  with(changes: Partial<ChatOptions<readonly Participant<Context>[]>>): Chat<Context>;
}

/** Kind of state, for programs that read stored states without running them. */
export const chatStates: StateType<ChatState> = {
  ...ChatState.codec,
  empty: (options) => ChatState.empty(options),
  is: (value) => value instanceof ChatState,
  viewMessages,
};

const parse = (said: unknown): ParsedWords =>
  typeof said === 'string'
    ? { ok: true, text: said }
    : { ok: false, problem: `The text of a turn must be a string, not ${describeValue(said)}.` };

/**
 * Creates a chat. By default its participants speak one after the other, and it ends when each has spoken since the last
 * input; it stops at 16 turns, 500,000 tokens, a model that was cut off or filtered, and any failed turn.
 */
export function createChat<const Given extends readonly Participant<never>[]>(
  options: ChatOptions<Given>,
): Chat<ContextOfParticipants<Given>>;
export function createChat(options: ChatOptions): Chat {
  checkConversationOptions('createChat()', options);
  const events = options.events ?? createEventBus<ChatEvent>(options.ports?.onProblem);
  const chat = createConversation(
    { ...options, events },
    {
      name: 'chat',
      id: options.id ?? 'chat',
      participants: options.participants,
      states: chatStates,
      extension: { parse },
      driver: (names) => new EveryoneHasSpoken(names),
    },
  );
  return { ...chat, name: 'chat', with: (changes) => createChat({ ...options, events, ...changes }) };
}
