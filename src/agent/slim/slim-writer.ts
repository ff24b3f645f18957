import type { Json, JsonObject, Redactor } from '../../lib/index.ts';
import { isRecord, setOwn, toCanonical } from '../../lib/index.ts';
import { cutText } from './cut-text.ts';
import type { SlimSerializationConfig } from './slim-serialization-config.ts';

// Values were bounded when they were made; here only the stack needs guarding.
const limits = { maxDepth: 512, maxBytes: Infinity };

// Whatever a redactor returns, a payload stays JSON without half characters.
function toJson(value: Json): Json {
  const result = toCanonical(value, limits);
  return result.ok ? result.value : null;
}

/** A JSON value that is shown whole, or the beginning of its text. */
export type ShownValue = { readonly whole: true; readonly value: Json } | { readonly whole: false; readonly text: string };

/** Writes single values for display. Removes secrets before it cuts texts: half a secret could not be recognised. */
export class SlimWriter {
  readonly config: SlimSerializationConfig;
  readonly #redactor: Redactor;

  constructor(config: SlimSerializationConfig, redactor: Redactor) {
    this.config = config;
    this.#redactor = redactor;
  }

  /** Writes an id or a name. It is never cut, so that records that belong together can still be matched. */
  writeName(text: string): string {
    const clean = toJson(this.#redactor.text(text));
    return typeof clean === 'string' ? clean : '';
  }

  writeText(text: string): string {
    return cutText(this.writeName(text), this.config.maxContentLength);
  }

  writeValue(value: Json): ShownValue {
    const clean = this.#clean(value);
    const json = JSON.stringify(clean);
    const text = cutText(json, this.config.maxContentLength);
    return text === json ? { whole: true, value: clean } : { whole: false, text };
  }

  /** Writes whole fields, in their order, as long as their JSON together is not too long. Counts those that were dropped. */
  writeFields(source: JsonObject): { readonly fields: JsonObject; readonly dropped: number } {
    const fields: Record<string, Json> = {};
    // Two for the braces; a colon and a comma for each field.
    let [room, dropped] = [this.config.maxContentLength - 2, 0];
    for (const [name, value] of Object.entries(source)) {
      const clean = this.#clean({ [name]: value });
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

  #clean(value: Json): Json {
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
