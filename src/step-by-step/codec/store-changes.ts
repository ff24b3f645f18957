// What has become of the conversation since: the sections that only grew say what was added, the others are written whole.
// A message that was there before is named by its id, so that it stays the very one that earlier steps refer to.
import type { JsonObject } from '../../lib/index.ts';
import { omitUndefined, readObject, readString } from '../../lib/index.ts';
import type { Message } from '../../messages/index.ts';
import { MessageStore } from '../../messages/index.ts';
import type { MessageRefs } from './message-refs.ts';
import { messageRefs } from './message-refs.ts';

/** A section that is written. */
interface Section {
  readonly name: string;
  /** True if these messages replace the earlier ones. */
  readonly whole?: boolean;
  readonly messages: readonly Message[];
}

/** Stored changes of a message store. */
export interface StoreChanges {
  /** Undefined if the sections are the same, in the same order. */
  readonly names?: readonly string[];
  readonly sections: readonly Section[];
}

function sectionSince(name: string, before: MessageStore, after: MessageStore): readonly Section[] {
  const messages = after.section(name);
  const added = messages.since(before.section(name));
  if (added === undefined) return [{ name, whole: true, messages: messages.toArray() }];
  return added.length === 0 ? [] : [{ name, messages: added }];
}

/** Returns undefined if nothing has changed. */
export function diffStore(before: MessageStore, after: MessageStore): StoreChanges | undefined {
  if (before === after) return undefined;
  const { names } = after;
  const sections = names.flatMap((name) => sectionSince(name, before, after));
  const isSame = names.length === before.names.length && names.every((name, index) => name === before.names[index]);
  if (isSame && sections.length === 0) return undefined;
  return { ...(!isSame && { names }), sections };
}

export const listMessages = (changes: StoreChanges | undefined): readonly Message[] =>
  changes?.sections.flatMap(({ messages }) => messages) ?? [];

/** Messages move only if a section is not what it was; else nobody has to look for them in a long conversation. */
const hasMoved = ({ names, sections }: StoreChanges): boolean => names !== undefined || sections.some(({ whole }) => whole === true);

export function writeStoreChanges(changes: StoreChanges, before: MessageStore, elsewhere: readonly JsonObject[]): JsonObject {
  const { names, sections } = changes;
  const refs = messageRefs(hasMoved(changes) ? { store: before, elsewhere } : { elsewhere });
  const written = sections.map(({ name, whole, messages: given }) => {
    const messages = given.map((message) => refs.write(message));
    return whole === true ? { name, whole, messages } : { name, messages };
  });
  return names === undefined ? { sections: written } : { names, sections: written };
}

function readSection(item: unknown, path: string, refs: MessageRefs): Section {
  const data = readObject(item, path);
  const messages = data.array('messages', (message, at) => refs.read(message, at));
  return { name: data.string('name'), whole: data.optionalBoolean('whole') === true, messages };
}

export function readStoreChanges(input: unknown, path: string, refs: MessageRefs): StoreChanges {
  const data = readObject(input, path);
  return omitUndefined({
    names: data.optionalArray('names', readString),
    sections: data.array('sections', (item, at) => readSection(item, at, refs)),
  });
}

export function patchStore(before: MessageStore, { names, sections }: StoreChanges): MessageStore {
  let store = before;
  for (const { name, whole, messages } of sections) {
    // Not append(...messages): a long spread overflows the stack.
    if (whole === true) store = store.withSection(name, messages);
    else if (messages.length > 0) store = store.withSection(name, store.section(name).concat(messages));
  }
  if (names === undefined) return store;
  return names.reduce((ordered, name) => ordered.withSection(name, store.section(name)), MessageStore.empty());
}
