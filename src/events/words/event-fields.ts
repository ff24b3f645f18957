import type { Json, Redactor } from '../../lib/index.ts';
import { cutLine, readField, toJsonText, toLine } from '../../lib/index.ts';

/** Reads the fields of an event for its line, whether it was just emitted or stored. Text is redacted, on one line, and cut. */
export class EventFields {
  readonly #data: unknown;
  readonly #redactor: Redactor;

  constructor(data: unknown, redactor: Redactor) {
    this.#data = data;
    this.#redactor = redactor;
  }

  /** True unless the field is missing, null, false or empty. */
  has(name: string): boolean {
    const value = readField(this.#data, name);
    return value !== undefined && value !== null && value !== false && value !== '';
  }

  /** Text of a field; empty if it has none. */
  text(name: string): string {
    return this.#toText(readField(this.#data, name));
  }

  /** Texts of a list. */
  texts(name: string): readonly string[] {
    return this.#readList(name).map((item) => this.#toText(item));
  }

  number(name: string): number {
    const value = readField(this.#data, name);
    return typeof value === 'number' ? value : 0;
  }

  /** The field as JSON; empty if it has none. */
  json(name: string): string {
    const value = readField(this.#data, name);
    if (value === undefined || value === null) return '';
    // Holds: events are plain data.
    return cutLine(toJsonText(this.#redactor.value(value as Json)));
  }

  /** The field as text, or as JSON if it is not text; redacted by its name too, for fields that somebody else named. */
  fact(name: string): string {
    const value = readField(this.#data, name);
    // Holds: events are plain data.
    const shown = readField(this.#redactor.value({ [name]: (value ?? null) as Json }), name);
    return typeof shown === 'string' ? cutLine(toLine(shown)) : cutLine(toJsonText(shown));
  }

  /** Fields of an object. */
  inner(name: string): EventFields {
    return new EventFields(readField(this.#data, name), this.#redactor);
  }

  /** Fields of each object in a list. */
  list(name: string): readonly EventFields[] {
    return this.#readList(name).map((item) => new EventFields(item, this.#redactor));
  }

  /** Names of the fields. */
  get names(): readonly string[] {
    return typeof this.#data === 'object' && this.#data !== null ? Object.keys(this.#data) : [];
  }

  #readList(name: string): readonly unknown[] {
    const value = readField(this.#data, name);
    return Array.isArray(value) ? value : [];
  }

  #toText(value: unknown): string {
    return typeof value === 'string' ? cutLine(toLine(this.#redactor.text(value))) : '';
  }
}
