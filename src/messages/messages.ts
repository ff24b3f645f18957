import type { JsonObject } from '../lib/index.ts';
import { AppendOnlyList, readArray } from '../lib/index.ts';
import { Message } from './message.ts';
import type { MessageRole } from './message-role.ts';

/** Which role becomes which. */
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

/** Messages in their order. The collection never changes; appending to the newest version of it copies nothing. */
export class Messages implements Iterable<Message> {
  readonly #list: AppendOnlyList<Message>;

  private constructor(list: AppendOnlyList<Message>) {
    this.#list = list;
  }

  static empty(): Messages {
    return new Messages(AppendOnlyList.empty());
  }

  static from(messages: Iterable<Message>): Messages {
    return messages instanceof Messages ? messages : new Messages(AppendOnlyList.from(messages));
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

  get isEmpty(): boolean {
    return this.#list.isEmpty;
  }

  get first(): Message | undefined {
    return this.#list.at(0);
  }

  get last(): Message | undefined {
    return this.#list.last;
  }

  /** The texts of all messages that have one, a line break between them. */
  get text(): string {
    return this.toArray()
      .map((message) => message.text)
      .filter((text) => text !== '')
      .join('\n');
  }

  /** What was appended since an earlier version of these; undefined where that is no beginning of these. */
  since(earlier: Messages): readonly Message[] | undefined {
    return this.#list.since(earlier.#list);
  }

  /** The message at `index`; negative counts from the end. */
  at(index: number): Message | undefined {
    return this.#list.at(index);
  }

  append(...messages: readonly Message[]): Messages {
    return this.concat(messages);
  }

  prepend(...messages: readonly Message[]): Messages {
    return messages.length === 0 ? this : Messages.from([...messages, ...this]);
  }

  concat(messages: Iterable<Message>): Messages {
    const list = this.#list.appendAll(messages);
    return list === this.#list ? this : new Messages(list);
  }

  dropFirst(count = 1): Messages {
    return count <= 0 ? this : Messages.from(this.toArray().slice(count));
  }

  dropLast(count = 1): Messages {
    return count <= 0 ? this : Messages.from(this.toArray().slice(0, Math.max(0, this.length - count)));
  }

  forRoles(...roles: readonly MessageRole[]): Messages {
    return this.filter((message) => message.hasRole(...roles));
  }

  exceptRoles(...roles: readonly MessageRole[]): Messages {
    return this.filter((message) => !message.hasRole(...roles));
  }

  /** The messages at the front up to the first of another role. */
  headWithRoles(...roles: readonly MessageRole[]): Messages {
    return Messages.from(this.toArray().slice(0, this.#headLength(roles)));
  }

  /** What follows the head of these roles. */
  tailAfterRoles(...roles: readonly MessageRole[]): Messages {
    return this.dropFirst(this.#headLength(roles));
  }

  /** The same messages under other roles; roles that are not in the map stay. */
  remapRoles(map: RoleMap): Messages {
    return this.map((message) => {
      const role = map[message.role];
      return role === undefined || role === message.role ? message : message.withRole(role);
    });
  }

  /** Neighbours of one role and name become one message with the first one's id; tool calls and results stay apart. */
  mergedPerRole(): Messages {
    const merged: Message[] = [];
    for (const message of this) {
      const previous = merged.at(-1);
      if (previous !== undefined && canMerge(previous, message)) merged[merged.length - 1] = merge(previous, message);
      else merged.push(message);
    }
    return Messages.from(merged);
  }

  filter(isKept: (message: Message) => boolean): Messages {
    return Messages.from(this.toArray().filter((message) => isKept(message)));
  }

  map(change: (message: Message) => Message): Messages {
    return Messages.from(this.toArray().map((message) => change(message)));
  }

  reversed(): Messages {
    return Messages.from(this.toArray().toReversed());
  }

  [Symbol.iterator](): Iterator<Message> {
    return this.#list[Symbol.iterator]();
  }

  toArray(): readonly Message[] {
    return this.#list.toArray();
  }

  toJSON(): readonly JsonObject[] {
    return this.toArray().map((message) => message.toJSON());
  }

  #headLength(roles: readonly MessageRole[]): number {
    const end = this.toArray().findIndex((message) => !message.hasRole(...roles));
    return end === -1 ? this.length : end;
  }
}
