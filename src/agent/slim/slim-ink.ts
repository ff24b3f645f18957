import type { Json, JsonObject, Redactor } from '../../lib/index.ts';
import { isRecord, setOwn, toCanonical } from '../../lib/index.ts';
import { cutText } from './cut-text.ts';
import type { SlimSerializationConfig } from './slim-serialization-config.ts';

// Values were bounded when they were made; here only the stack needs guarding.
const limits = { maxDepth: 512, maxBytes: Infinity };

// Whatever a redactor gives back, a payload stays JSON without half characters.
function canonical(value: Json): Json {
  const result = toCanonical(value, limits);
  return result.ok ? result.value : null;
}

/** A JSON value that is shown whole, or the beginning of its text. */
export type ShownValue = { readonly whole: true; readonly value: Json } | { readonly whole: false; readonly text: string };

/** As many fields as fit, and how many do not. */
export interface ShownFields {
  readonly fields: JsonObject;
  readonly dropped: number;
}

/** What everything that is shown is written with. Secrets go before texts are cut: half a secret would not be known as one. */
export class SlimInk {
  readonly config: SlimSerializationConfig;
  readonly #redactor: Redactor;

  constructor(config: SlimSerializationConfig, redactor: Redactor) {
    this.config = config;
    this.#redactor = redactor;
  }

  /** Ids and names: without secrets, never cut, so that what belongs together still does. */
  name(text: string): string {
    const clean = canonical(this.#redactor.text(text));
    return typeof clean === 'string' ? clean : '';
  }

  text(text: string): string {
    return cutText(this.name(text), this.config.maxContentLength);
  }

  value(value: Json): ShownValue {
    const clean = this.#clean(value);
    const json = JSON.stringify(clean);
    const text = cutText(json, this.config.maxContentLength);
    return text === json ? { whole: true, value: clean } : { whole: false, text };
  }

  /** Whole fields, in their order, while their JSON together is not too long. */
  fields(source: JsonObject): ShownFields {
    const fields: Record<string, Json> = {};
    // Two for the braces; a colon and a comma for each field.
    let [room, dropped] = [this.config.maxContentLength - 2, 0];
    for (const [name, given] of Object.entries(source)) {
      const [field] = this.#cleanFields({ [name]: given });
      const length = field === undefined ? Infinity : JSON.stringify(field[0]).length + JSON.stringify(field[1]).length + 2;
      if (field === undefined || length > room) dropped += 1;
      else {
        room -= length;
        setOwn(fields, ...field);
      }
    }
    return { fields, dropped };
  }

  // None where they cannot be shown as JSON.
  #cleanFields(fields: JsonObject): readonly (readonly [string, Json])[] {
    const clean = this.#clean(fields);
    // Holds: a JSON value that is a record has JSON fields.
    return isRecord(clean) ? Object.entries(clean) : [];
  }

  #clean(value: Json): Json {
    return canonical(this.#withCleanKeys(this.#redactor.value(canonical(value))));
  }

  // A redactor reads the names of fields but does not change them, and a name can hold a secret too.
  #withCleanKeys(value: Json): Json {
    if (Array.isArray(value)) return (value as readonly Json[]).map((item) => this.#withCleanKeys(item));
    if (!isRecord(value)) return value;
    const copy: Record<string, Json> = {};
    // Holds: a JSON value that is a record has JSON fields.
    for (const [key, item] of Object.entries(value)) setOwn(copy, this.#redactor.text(key), this.#withCleanKeys(item));
    return copy;
  }
}
