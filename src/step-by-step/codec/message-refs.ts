// References of steps to the messages of the conversation, so that no message is stored twice.
// A number is the place among the messages that are written beside the step; text is the id of one that was written earlier;
// `{ messageId }` is one that the caller of the codec stores elsewhere.
import type { Json, JsonObject } from '../../lib/index.ts';
import { DamagedDataError, isRecord, jsonEquals } from '../../lib/index.ts';
import type { MessageStore } from '../../messages/index.ts';
import { Message } from '../../messages/index.ts';

/** Writes and reads references to messages. */
export interface MessageRefs {
  write(message: Message): Json;
  read(item: unknown, path: string): Message;
}

const everyMessage = (store: MessageStore): readonly Message[] => store.names.flatMap((name) => store.section(name).toArray());

/** Messages that a step or a change may refer to. */
export interface ReferableMessages {
  /** Written beside it: referred to by their place. */
  readonly beside?: readonly Message[];
  /** Finds a message that is written beside it, if the list is not at hand. */
  readonly findBeside?: (place: number) => Message | undefined;
  /** Written earlier: referred to by their id. */
  readonly store?: MessageStore;
  /** Messages that the caller stores elsewhere: the change refers to them by `{ messageId }`. */
  readonly elsewhere?: readonly JsonObject[];
}

function indexMessages(messages: readonly Message[]): ReadonlyMap<Message, number> {
  const places = new Map<Message, number>();
  let place = 0;
  for (const message of messages) {
    places.set(message, place);
    place += 1;
  }
  return places;
}

/** Creates references to messages; a message that is none of these is written whole. */
export function messageRefs({ beside = [], findBeside = (place) => beside[place], store, elsewhere = [] }: ReferableMessages): MessageRefs {
  let places: ReadonlyMap<Message, number> | undefined;
  let earlier: ReadonlyMap<string, Message> | undefined;
  // Made only when asked for: most steps refer to what is written beside them, and conversations are long.
  const place = (message: Message): number | undefined => (places ??= indexMessages(beside)).get(message);
  const known = (id: string): Message | undefined =>
    store === undefined ? undefined : (earlier ??= new Map(everyMessage(store).map((each) => [each.id, each] as const))).get(id);
  const find = (id: string): JsonObject | undefined => elsewhere.find((message) => message['id'] === id);
  return {
    write: (message) => {
      const found = place(message);
      if (found !== undefined) return found;
      if (known(message.id) === message) return message.id;
      const written = message.toJSON();
      return elsewhere.length > 0 && jsonEquals(find(message.id), written) ? { messageId: message.id } : written;
    },
    read: (item, path) => {
      if (isRecord(item) && !Object.hasOwn(item, 'messageId')) return Message.fromJSON(item, path);
      const id = isRecord(item) ? item['messageId'] : item;
      const stored = isRecord(item) && typeof id === 'string' ? find(id) : undefined;
      if (stored !== undefined) return Message.fromJSON(stored, path);
      const found = typeof item === 'number' ? findBeside(item) : typeof item === 'string' ? known(item) : undefined;
      if (found !== undefined) return found;
      throw new DamagedDataError(path, `expected a message of the conversation, found ${JSON.stringify(id)}, which none of them is`);
    },
  };
}

/** References to the messages of a whole store. */
export const refsInto = (store: MessageStore): MessageRefs => messageRefs({ beside: everyMessage(store) });

/** Finds a message by its place in a whole store, and reads no others. */
function findPlaced(store: MessageStore, place: number): Message | undefined {
  let before = 0;
  for (const name of store.names) {
    const messages = store.section(name);
    if (place < before + messages.length) return messages.at(place - before);
    before += messages.length;
  }
  return undefined;
}

/** References to the messages of a whole store, to read only. Messages that are read later are not asked for. */
export const readableRefsInto = (store: MessageStore): MessageRefs => messageRefs({ findBeside: (place) => findPlaced(store, place) });
