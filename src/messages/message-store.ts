import type { JsonObject, ObjectReader } from '../lib/index.ts';
import { DamagedDataError, describeValue, InvalidArgumentError, readObject } from '../lib/index.ts';
import type { Message } from './message.ts';
import { Messages } from './messages.ts';

/** The sections that make up what a model reads, by convention. */
export const SectionName = { Summary: 'summary', Buffer: 'buffer', Messages: 'messages' } as const;
/** The sections that make up what a model reads, by convention. */
export type SectionName = (typeof SectionName)[keyof typeof SectionName];

const readByModels: readonly string[] = [SectionName.Summary, SectionName.Buffer, SectionName.Messages];
const noMessages = Messages.empty();

/** Messages in named sections. The store never changes; each change gives the next store, and keeps the order of sections. */
export class MessageStore {
  readonly #names: readonly string[];
  /** The messages of each section, in the order of the names. A list and no map: every step makes the next store. */
  readonly #lists: readonly Messages[];

  private constructor(names: readonly string[], lists: readonly Messages[]) {
    this.#names = names;
    this.#lists = lists;
  }

  static empty(): MessageStore {
    return new MessageStore([], []);
  }

  /** A store with these messages in one section. @default section 'messages' */
  static fromMessages(messages: Iterable<Message>, section: string = SectionName.Messages): MessageStore {
    return MessageStore.empty().withSection(section, messages);
  }

  /** Reads a store; a section that comes twice is refused. */
  static fromJSON(value: unknown, path = 'messageStore'): MessageStore {
    const names: string[] = [];
    const readSection = (item: unknown, itemPath: string): Messages => {
      const reader: ObjectReader = readObject(item, itemPath);
      const name = reader.string('name');
      if (names.includes(name)) throw new DamagedDataError(itemPath, `section ${JSON.stringify(name)} comes twice`);
      names.push(name);
      return reader.value('messages', (list, listPath) => Messages.fromJSON(list, listPath));
    };
    return new MessageStore(names, readObject(value, path).array('sections', readSection));
  }

  /** The names of all sections, empty ones too, in their order. */
  get names(): readonly string[] {
    return [...this.#names];
  }

  get isEmpty(): boolean {
    return this.#lists.every((messages) => messages.length === 0);
  }

  has(name: string): boolean {
    return this.#names.includes(name);
  }

  /** Messages of a section; empty if there is no such section. */
  section(name: string): Messages {
    return this.#lists[this.#names.indexOf(name)] ?? noMessages;
  }

  /** Adds to the end of a section, which is made when missing; without messages nothing happens. */
  append(name: string, ...messages: readonly Message[]): MessageStore {
    if (messages.length === 0) return this;
    return this.withSection(name, (this.has(name) ? this.section(name) : Messages.empty()).concat(messages));
  }

  /** Puts these messages in place of what the section held. */
  withSection(name: string, messages: Iterable<Message>): MessageStore {
    if (typeof name !== 'string') throw new InvalidArgumentError(`The name of a section must be a string, not ${describeValue(name)}.`);
    const index = this.#names.indexOf(name);
    const list = Messages.from(messages);
    if (index === -1) return new MessageStore([...this.#names, name], [...this.#lists, list]);
    return new MessageStore(this.#names, this.#lists.with(index, list));
  }

  /** Empties a section and keeps its place. */
  clear(name: string): MessageStore {
    return this.section(name).length === 0 ? this : this.withSection(name, Messages.empty());
  }

  remove(name: string): MessageStore {
    const index = this.#names.indexOf(name);
    return index === -1 ? this : new MessageStore(this.#names.toSpliced(index, 1), this.#lists.toSpliced(index, 1));
  }

  /** Gives a section another name in the same place. */
  rename(name: string, newName: string): MessageStore {
    if (!this.has(name) || name === newName) return this;
    if (this.has(newName)) throw new InvalidArgumentError(`Section "${newName}" already exists. Remove it first, or use another name.`);
    return new MessageStore(this.#names.with(this.#names.indexOf(name), newName), this.#lists);
  }

  /** The messages of the named sections, in the order in which they are asked for. */
  select(names: readonly string[]): Messages {
    let [only, count] = [noMessages, 0];
    // A loop, because it runs for every step, and most conversations have one section.
    for (const name of names) {
      const messages = this.section(name);
      if (messages.length === 0) continue;
      only = messages;
      count += 1;
    }
    return count < 2 ? only : Messages.join(names.map((name) => this.section(name)).filter((messages) => messages.length > 0));
  }

  /** Appends the other store's sections to the ones of the same name; new ones follow. */
  merge(other: MessageStore): MessageStore {
    return other.#names.reduce<MessageStore>(
      (store, name) => store.withSection(name, store.section(name).concat(other.section(name))),
      this,
    );
  }

  /** Messages that a model reads: summary, buffer, messages. Other sections are private to their owners. */
  toMessages(): Messages {
    return this.select(readByModels);
  }

  toJSON(): JsonObject {
    return { sections: this.#names.map((name) => ({ name, messages: this.section(name).toJSON() })) };
  }
}
