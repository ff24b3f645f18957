// The messages of a request, before they are an array
// Owns:     which ways of asking read a conversation as it is kept.
// Does not: know any model.
// V1. A model gets an array of its own, because it may keep it or change it. So the array is copied for every request.
// V2. A model that promises to do neither gets the conversation instead: a request costs the same however long it is.
// V3. The promise is that of a function. One that stands in its place, or around it, gets the array.
import type { Message, Messages } from '../messages/index.ts';
import type { OnDelta } from './ask.ts';
import type { Model, ModelOutcome, ModelRequest } from './model.ts';

// Not frozen: engines are slow to copy a list together with a frozen one.
const noMessages: readonly Message[] = [];

/** Messages for a model: instructions, then those of a state. */
export class Conversation {
  readonly instructions: readonly Message[];
  readonly messages: Messages;

  constructor(messages: Messages, instructions: readonly Message[] = noMessages) {
    this.messages = messages;
    this.instructions = instructions;
  }

  get length(): number {
    return this.instructions.length + this.messages.length;
  }

  /** Makes a new array of the messages. */
  toArray(): Message[] {
    return this.messages.copyAfter(this.instructions);
  }
}

type RequestFields = Omit<ModelRequest, 'messages'>;

/** A call whose messages are not an array yet. */
export type ConversationRequest = RequestFields & { readonly messages: Conversation };

type ReadConversation = (request: ConversationRequest, onDelta: OnDelta) => Promise<ModelOutcome>;

/** By the function that asks. */
const readers = new WeakMap<object, ReadConversation>();

/** Makes a model's way of asking one that reads conversations. */
export function readConversations(ask: Model['generate'] | Model['stream'], read: ReadConversation): void {
  readers.set(ask, read);
}

/** A call of the caller's own, which may still be changed. */
export type OpenRequest = { -readonly [Key in keyof RequestFields]: RequestFields[Key] } & {
  messages: Conversation | readonly Message[];
};

/** Asks for a stream if somebody listens to the pieces, else for the whole. */
export function askAbout(model: Model, request: OpenRequest, onDelta: OnDelta): Promise<ModelOutcome> {
  const { messages } = request;
  if (messages instanceof Conversation) {
    // Only looked up, not called.
    const functions: Readonly<Record<'generate' | 'stream', object>> = model;
    const read = readers.get(onDelta === undefined ? functions.generate : functions.stream);
    // Holds: the conversation is its own.
    if (read !== undefined) return read(request as ConversationRequest, onDelta);
    request.messages = messages.toArray();
  }
  // Holds: its messages are an array now.
  const complete = request as ModelRequest;
  return onDelta === undefined ? model.generate(complete) : model.stream(complete, onDelta);
}
