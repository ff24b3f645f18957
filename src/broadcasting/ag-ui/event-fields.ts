// Fields of events, just emitted or stored.
import type { Json } from '../../lib/index.ts';
import { toCanonical } from '../../lib/index.ts';
import type { AnyEvent } from '../index.ts';
import { toCallId, toMessageId } from './ag-ui-ids.ts';

/** Reads the fields of an event. Nothing is known about them but what is checked. */
export class EventFields {
  readonly #fields: Readonly<Record<string, unknown>>;

  constructor(event: AnyEvent | object) {
    // Holds: any object may be read as fields that are unknown.
    this.#fields = event as Readonly<Record<string, unknown>>;
  }

  text(key: string): string {
    const value = this.#fields[key];
    return typeof value === 'string' ? value : '';
  }

  optionalText(key: string): string | undefined {
    const value = this.text(key);
    return value === '' ? undefined : value;
  }

  number(key: string): number {
    const value = this.#fields[key];
    return typeof value === 'number' ? value : 0;
  }

  flag(key: string): boolean {
    return this.#fields[key] === true;
  }

  /** A value as JSON; undefined if there is none. */
  json(key: string): Json | undefined {
    const value = this.#fields[key];
    const canonical = value === undefined ? undefined : toCanonical(value, { maxBytes: Infinity });
    return canonical?.ok === true ? canonical.value : undefined;
  }

  inner(key: string): EventFields {
    const value = this.#fields[key];
    return new EventFields(typeof value === 'object' && value !== null ? value : {});
  }

  list(key: string): readonly EventFields[] {
    const value: unknown = this.#fields[key];
    return Array.isArray(value) ? value.map((item: unknown) => new EventFields({ item }).inner('item')) : [];
  }

  /** Id of the agent around it, in a sub-agent or a turn of a chat. */
  get parent(): string | undefined {
    return this.optionalText('parentAgentId');
  }

  /** Id of the message of its step. */
  get messageId(): string {
    return toMessageId(this.text('executionId'), this.number('stepNumber'));
  }

  /** Id of its call. */
  get callId(): string {
    return toCallId(this.messageId, this.text('toolCallId'));
  }
}
