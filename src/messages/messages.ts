import type { JsonObject } from '../lib/index.ts';
import { AppendOnlyList, describeValue, InvalidArgumentError, readArray } from '../lib/index.ts';
import { Message } from './message.ts';
import type { MessageRole } from './message-role.ts';

/** New role for each role to change. */
export type RoleMap = { readonly [Role in MessageRole]?: MessageRole };

// What a call or its answer belongs to must stay one message each.
function isMergeable(message: Message): boolean {
  return !message.isTool() && message.parts.every((part) => part.type !== 'tool-call' && part.type !== 'tool-result');
}

function canMerge(left: Message, right: Message): boolean {
  return left.role === right.role && left.name === right.name && isMergeable(left) && isMergeable(right);
}

function merge(left: Message, right: Message): Message {
  const providerOptions = { ...left.providerOptions, ...right.providerOptions };
  return new Message({
    ...left,
    parts: [...left.parts, ...right.parts],
    metadata: { ...left.metadata, ...right.metadata },
    ...(Object.keys(providerOptions).length > 0 && { providerOptions }),
  });
}

function assertMessages(messages: readonly unknown[]): void {
  const index = messages.findIndex((message) => !(message instanceof Message));
  if (index === -1) return;
  const found = describeValue(messages[index]);
  throw new InvalidArgumentError(
    `messages[${index}] must be a Message, not ${found}. Create it with Message.user() or Message.assistant().`,
  );
}

/** Messages in their order. Reads like a readonly array and never changes; appending to the newest version copies nothing. */
export class Messages implements Iterable<Message> {
  readonly #list: AppendOnlyList<Message>;

  private constructor(list: AppendOnlyList<Message>) {
    this.#list = list;
  }

  static empty(): Messages {
    return new Messages(AppendOnlyList.empty());
  }

  static from(messages: Iterable<Message>): Messages {
    if (messages instanceof Messages) return messages;
    // Its earlier messages may not be read yet, and are checked when they are.
    if (messages instanceof AppendOnlyList) return new Messages(AppendOnlyList.from<Message>(messages));
    const items = [...messages];
    assertMessages(items);
    return new Messages(AppendOnlyList.from(items));
  }

  /** The messages of several lists, one after the other. */
  static join(lists: readonly Messages[]): Messages {
    return new Messages(AppendOnlyList.join(lists.map((messages) => messages.#list)));
  }

  static of(...messages: readonly Message[]): Messages {
    return Messages.from(messages);
  }

  /** Reads a list of messages. */
  static fromJSON(value: unknown, path = 'messages'): Messages {
    return Messages.from(readArray(value, path, (item, itemPath) => Message.fromJSON(item, itemPath)));
  }

  get length(): number {
    return this.#list.length;
  }

  /** Returns the message at `index`; negative counts from the end. */
  at(index: number): Message | undefined {
    return this.#list.at(index);
  }

  map<Value>(change: (message: Message, index: number) => Value): Value[] {
    return this.toArray().map(change);
  }

  flatMap<Value>(change: (message: Message, index: number) => Value | readonly Value[]): Value[] {
    return this.toArray().flatMap(change);
  }

  filter(isKept: (message: Message, index: number) => unknown): Message[] {
    return this.toArray().filter(isKept);
  }

  slice(start?: number, end?: number): Message[] {
    return this.#list.slice(start, end);
  }

  find(isWanted: (message: Message, index: number) => unknown): Message | undefined {
    return this.toArray().find(isWanted);
  }

  findLast(isWanted: (message: Message, index: number) => unknown): Message | undefined {
    return this.toArray().findLast(isWanted);
  }

  some(isWanted: (message: Message, index: number) => unknown): boolean {
    return this.toArray().some(isWanted);
  }

  every(isWanted: (message: Message, index: number) => unknown): boolean {
    return this.toArray().every(isWanted);
  }

  forEach(visit: (message: Message, index: number) => void): void {
    this.toArray().forEach(visit);
  }

  [Symbol.iterator](): IterableIterator<Message> {
    return this.#list[Symbol.iterator]();
  }

  /** The texts of all messages that have one, a line break between them. */
  get text(): string {
    return this.map((message) => message.text)
      .filter((text) => text !== '')
      .join('\n');
  }

  /** Returns what was appended since an earlier version; undefined if that is not a beginning of this one. */
  since(earlier: Messages): readonly Message[] | undefined {
    return this.#list.since(earlier.#list);
  }

  /** True if both are versions of one list, so that the shorter one is a beginning of the longer one. */
  hasSameOrigin(other: Messages): boolean {
    return this.#list.hasSameOrigin(other.#list);
  }

  /** Returns how many of these messages, from the first on, stand in the list from a place on. */
  countSame(messages: readonly Message[], place: number): number {
    return this.#list.countSame(messages, place);
  }

  append(...messages: readonly Message[]): Messages {
    return this.concat(messages);
  }

  concat(messages: Iterable<Message>): Messages {
    if (messages instanceof Messages) return this.#append(messages);
    const items = [...messages];
    assertMessages(items);
    return this.#append(items);
  }

  #append(messages: Iterable<Message>): Messages {
    const list = this.#list.appendAll(messages);
    return list === this.#list ? this : new Messages(list);
  }

  forRoles(...roles: readonly MessageRole[]): Messages {
    return Messages.from(this.filter((message) => message.hasRole(...roles)));
  }

  exceptRoles(...roles: readonly MessageRole[]): Messages {
    return Messages.from(this.filter((message) => !message.hasRole(...roles)));
  }

  /** Returns the messages at the front up to the first of another role. */
  headWithRoles(...roles: readonly MessageRole[]): Messages {
    return Messages.from(this.slice(0, this.#headLength(roles)));
  }

  /** Returns the messages after the head of these roles. */
  tailAfterRoles(...roles: readonly MessageRole[]): Messages {
    return Messages.from(this.slice(this.#headLength(roles)));
  }

  /** Returns the same messages under other roles; roles that are not in the map stay. */
  remapRoles(map: RoleMap): Messages {
    const remap = (message: Message, role = map[message.role]): Message =>
      role === undefined || role === message.role ? message : message.withRole(role);
    return Messages.from(this.map((message) => remap(message)));
  }

  /** Merges neighbours of one role and name into one message with the first one's id; tool calls and results stay apart. */
  mergePerRole(): Messages {
    const merged: Message[] = [];
    for (const message of this) {
      const previous = merged.at(-1);
      if (previous !== undefined && canMerge(previous, message)) merged[merged.length - 1] = merge(previous, message);
      else merged.push(message);
    }
    return Messages.from(merged);
  }

  /** Returns a new array: the given messages, then these. */
  copyAfter(first: readonly Message[]): Message[] {
    return this.#list.copyAfter(first);
  }

  toArray(): readonly Message[] {
    return this.#list.toArray();
  }

  toJSON(): readonly JsonObject[] {
    return this.map((message) => message.toJSON());
  }

  #headLength(roles: readonly MessageRole[]): number {
    const end = this.toArray().findIndex((message) => !message.hasRole(...roles));
    return end === -1 ? this.length : end;
  }
}
