import type { Json, JsonObject, Redactor } from '../../lib/index.ts';
import { isRecord, setOwn, toCanonical } from '../../lib/index.ts';
import { truncateText } from './truncate-text.ts';
import type { SlimSerializationConfig } from './slim-serialization-config.ts';

// Values were bounded when they were made; here only the stack needs guarding.
const limits = { maxDepth: 512, maxBytes: Infinity };

// Whatever a redactor returns, a payload stays JSON without half characters.
function toJson(value: Json): Json {
  const result = toCanonical(value, limits);
  return result.ok ? result.value : null;
}

/** A JSON value that is shown whole, or the beginning of its text. `redacted` if secrets were removed from it. */
export type ShownValue = { readonly redacted: boolean } & (
  { readonly whole: true; readonly value: Json } | { readonly whole: false; readonly text: string }
);

/** Writes single values for display. Removes secrets before it cuts texts: half a secret could not be recognised. */
export class SlimWriter {
  readonly config: SlimSerializationConfig;
  readonly #redactor: Redactor;
  #hasCut = false;
  #hasRedacted = false;

  constructor(config: SlimSerializationConfig, redactor: Redactor) {
    this.config = config;
    this.#redactor = redactor;
  }

  /** True if a text or a value was cut. */
  get hasCut(): boolean {
    return this.#hasCut;
  }

  /** True if something was changed because it was a secret, or because JSON cannot hold it. */
  get hasRedacted(): boolean {
    return this.#hasRedacted;
  }

  /** Writes an id or a name. It is never cut, so that records that belong together can still be matched. */
  writeName(text: string): string {
    const clean = toJson(this.#redactor.text(text));
    this.#hasRedacted ||= clean !== text;
    return typeof clean === 'string' ? clean : '';
  }

  writeText(text: string): string {
    return this.#cut(this.writeName(text));
  }

  writeValue(value: Json): ShownValue {
    const clean = this.clean(value);
    const redacted = clean !== value && JSON.stringify(clean) !== JSON.stringify(value);
    this.#hasRedacted ||= redacted;
    const json = JSON.stringify(clean);
    const text = this.#cut(json);
    return text === json ? { whole: true, value: clean, redacted } : { whole: false, text, redacted };
  }

  /** Writes whole fields, in their order, as long as their JSON together is not too long. Counts those that were dropped. */
  writeFields(source: JsonObject): { readonly fields: JsonObject; readonly dropped: number } {
    const fields: Record<string, Json> = {};
    // Two for the braces; a colon and a comma for each field.
    let [room, dropped] = [this.config.maxContentLength - 2, 0];
    for (const [name, value] of Object.entries(source)) {
      const given = { [name]: value };
      const clean = this.clean(given);
      this.#hasRedacted ||= JSON.stringify(clean) !== JSON.stringify(given);
      // No field if it cannot be shown as JSON.
      const [field] = isRecord(clean) ? Object.entries(clean) : [];
      const length = field === undefined ? Infinity : JSON.stringify(field[0]).length + JSON.stringify(field[1]).length + 2;
      if (field === undefined || length > room) dropped += 1;
      else {
        room -= length;
        setOwn(fields, ...field);
      }
    }
    return { fields, dropped };
  }

  #cut(text: string): string {
    const cut = truncateText(text, this.config.maxContentLength);
    this.#hasCut ||= cut !== text;
    return cut;
  }

  /** Removes secrets from a value and its names, and what JSON cannot hold. */
  clean(value: Json): Json {
    return toJson(this.#cleanKeys(this.#redactor.value(toJson(value))));
  }

  // A redactor reads the names of fields but does not change them, and a name can hold a secret too.
  #cleanKeys(value: Json): Json {
    if (typeof value !== 'object' || value === null) return value;
    if (!isRecord(value)) return value.map((item) => this.#cleanKeys(item));
    const copy: Record<string, Json> = {};
    for (const [key, item] of Object.entries(value)) setOwn(copy, this.#redactor.text(key), this.#cleanKeys(item));
    return copy;
  }
}
