import type { Json, JsonObject } from '../../lib/index.ts';
import { toCanonical } from '../../lib/index.ts';
import type { BroadcastSettings } from '../broadcast-options.ts';

/** Fields of an event that was just emitted or stored. Nothing is known about them but what is checked. */
export type EventFields = Readonly<Record<string, unknown>>;

/** Number of characters of an error or a reason that an envelope has room for. */
const longestSentence = 500;

/** Cuts a text after so many characters, never inside one. A text that is cut ends with an ellipsis. */
export function truncateText(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Reads the fields of an event for an envelope. Text that comes from outside is redacted before it is cut. */
export class EventView {
  readonly fields: EventFields;
  readonly settings: BroadcastSettings;

  constructor(fields: EventFields, settings: BroadcastSettings) {
    this.fields = fields;
    this.settings = settings;
  }

  /** A name or an id; empty if there is none. Not redacted. */
  name(key: string): string {
    const value = this.fields[key];
    return typeof value === 'string' ? value : '';
  }

  optionalName(key: string): string | undefined {
    const value = this.fields[key];
    return typeof value === 'string' && value !== '' ? value : undefined;
  }

  number(key: string): number {
    const value = this.fields[key];
    return typeof value === 'number' ? value : 0;
  }

  optionalNumber(key: string): number | undefined {
    const value = this.fields[key];
    return typeof value === 'number' ? value : undefined;
  }

  flag(key: string): boolean {
    return this.fields[key] === true;
  }

  /** Text from outside, whole. */
  text(key: string): string {
    const value = this.fields[key];
    return typeof value === 'string' && value !== '' ? this.settings.redactor.text(value) : '';
  }

  /** Text from outside, cut to a sentence; undefined if there is none. */
  sentence(key: string): string | undefined {
    const value = this.fields[key];
    return typeof value === 'string' && value !== '' ? truncateText(this.settings.redactor.text(value), longestSentence) : undefined;
  }

  names(key: string): readonly string[] | undefined {
    const value = this.fields[key];
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : undefined;
  }

  inner(key: string): EventView {
    const value = this.fields[key];
    // Holds: any object may be read as fields that are unknown.
    return new EventView(typeof value === 'object' && value !== null ? (value as EventFields) : {}, this.settings);
  }

  list(key: string): readonly EventView[] {
    const value: unknown = this.fields[key];
    if (!Array.isArray(value)) return [];
    return value.map((item: unknown) => new EventView({ item }, this.settings).inner('item'));
  }

  /** Any value as JSON; undefined if there is none, or if it is not plain data. Not redacted. */
  plain(key: string): Json | undefined {
    const value = this.fields[key];
    if (value === undefined) return undefined;
    const canonical = toCanonical(value);
    return canonical.ok ? canonical.value : undefined;
  }

  /** Any value as JSON, redacted; undefined if there is none, or if it is not plain data. */
  json(key: string): Json | undefined {
    const value = this.plain(key);
    return value === undefined ? undefined : this.settings.redactor.value(value);
  }

  /** Any object as JSON, redacted; undefined if it is empty or not an object. */
  object(key: string): JsonObject | undefined {
    const value = this.json(key);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    // Holds: an object that is not a list.
    return isObject && Object.keys(value).length > 0 ? (value as JsonObject) : undefined;
  }
}
