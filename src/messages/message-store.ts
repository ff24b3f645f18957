import type { JsonObject, ObjectReader } from '../lib/index.ts';
import { DamagedDataError, InvalidArgumentError, readObject } from '../lib/index.ts';
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
  readonly #sections: ReadonlyMap<string, Messages>;

  private constructor(sections: ReadonlyMap<string, Messages>) {
    this.#sections = sections;
  }

  static empty(): MessageStore {
    return new MessageStore(new Map());
  }

  /** A store with these messages in one section. @default section 'messages' */
  static fromMessages(messages: Iterable<Message>, section: string = SectionName.Messages): MessageStore {
    return MessageStore.empty().withSection(section, messages);
  }

  /** Reads a store; a section that comes twice is refused. */
  static fromJSON(value: unknown, path = 'messageStore'): MessageStore {
    const sections = new Map<string, Messages>();
    const readSection = (item: unknown, itemPath: string): void => {
      const reader: ObjectReader = readObject(item, itemPath);
      const name = reader.string('name');
      if (sections.has(name)) throw new DamagedDataError(itemPath, `section ${JSON.stringify(name)} comes twice`);
      sections.set(
        name,
        reader.value('messages', (list, listPath) => Messages.fromJSON(list, listPath)),
      );
    };
    readObject(value, path).array('sections', readSection);
    return new MessageStore(sections);
  }

  /** The names of all sections, empty ones too, in their order. */
  get names(): readonly string[] {
    return [...this.#sections.keys()];
  }

  get isEmpty(): boolean {
    return [...this.#sections.values()].every((messages) => messages.length === 0);
  }

  has(name: string): boolean {
    return this.#sections.has(name);
  }

  /** Messages of a section; empty if there is no such section. */
  section(name: string): Messages {
    return this.#sections.get(name) ?? noMessages;
  }

  /** Adds to the end of a section, which is made when missing; without messages nothing happens. */
  append(name: string, ...messages: readonly Message[]): MessageStore {
    return messages.length === 0 ? this : this.withSection(name, (this.#sections.get(name) ?? Messages.empty()).concat(messages));
  }

  /** Puts these messages in place of what the section held. */
  withSection(name: string, messages: Iterable<Message>): MessageStore {
    return new MessageStore(new Map(this.#sections).set(name, Messages.from(messages)));
  }

  /** Empties a section and keeps its place. */
  clear(name: string): MessageStore {
    return this.section(name).length === 0 ? this : this.withSection(name, Messages.empty());
  }

  remove(name: string): MessageStore {
    if (!this.has(name)) return this;
    const sections = new Map(this.#sections);
    sections.delete(name);
    return new MessageStore(sections);
  }

  /** Gives a section another name in the same place. */
  rename(name: string, newName: string): MessageStore {
    if (!this.has(name) || name === newName) return this;
    if (this.has(newName)) throw new InvalidArgumentError(`Section "${newName}" already exists. Remove it first, or use another name.`);
    return new MessageStore(new Map([...this.#sections].map(([key, messages]) => [key === name ? newName : key, messages])));
  }

  /** The messages of the named sections, in the order in which they are asked for. */
  select(names: readonly string[]): Messages {
    const filled = names.map((name) => this.section(name)).filter((messages) => messages.length > 0);
    const [only = noMessages] = filled;
    return filled.length > 1 ? Messages.join(filled) : only;
  }

  /** Appends the other store's sections to the ones of the same name; new ones follow. */
  merge(other: MessageStore): MessageStore {
    const sections = new Map(this.#sections);
    for (const [name, messages] of other.#sections) sections.set(name, this.section(name).concat(messages));
    return new MessageStore(sections);
  }

  /** Messages that a model reads: summary, buffer, messages. Other sections are private to their owners. */
  toMessages(): Messages {
    return this.select(readByModels);
  }

  toJSON(): JsonObject {
    return { sections: [...this.#sections].map(([name, messages]) => ({ name, messages: messages.toJSON() })) };
  }
}
