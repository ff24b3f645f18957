// How steps refer to the messages of the conversation, so that no message stands twice.
// A number is the place among the messages that are written beside the step; text is the id of one that was written earlier.
import type { Json } from '../../lib/index.ts';
import { DamagedDataError } from '../../lib/index.ts';
import type { MessageStore } from '../../messages/index.ts';
import { Message } from '../../messages/index.ts';

/** Writes and reads what a step refers to. */
export interface MessageRefs {
  write(message: Message): Json;
  read(item: unknown, path: string): Message;
}

const everyMessage = (store: MessageStore): readonly Message[] => store.names.flatMap((name) => store.section(name).toArray());

/** References to what is written beside the step, and to the rest of the store where that is needed. */
export function messageRefs(beside: readonly Message[], store?: MessageStore): MessageRefs {
  let places: ReadonlyMap<Message, number> | undefined;
  let earlier: ReadonlyMap<string, Message> | undefined;
  // Made only when asked for: most steps refer to what is written beside them, and conversations are long.
  const place = (message: Message): number | undefined =>
    (places ??= new Map(beside.map((each, index) => [each, index] as const))).get(message);
  const known = (id: string): Message | undefined =>
    store === undefined ? undefined : (earlier ??= new Map(everyMessage(store).map((each) => [each.id, each] as const))).get(id);
  return {
    write: (message) => place(message) ?? (known(message.id) === message ? message.id : message.toJSON()),
    read: (item, path) => {
      if (typeof item !== 'number' && typeof item !== 'string') return Message.fromJSON(item, path);
      const found = typeof item === 'number' ? beside[item] : known(item);
      if (found !== undefined) return found;
      throw new DamagedDataError(path, `expected a message of the conversation, found ${JSON.stringify(item)}, which none of them is`);
    },
  };
}

/** References to the messages of a whole store. */
export const refsInto = (store: MessageStore): MessageRefs => messageRefs(everyMessage(store));
