// Values that this package put together itself, and that need no second look.
// Owns:     which objects these are. The mark belongs to the object: a copy, or what an engine read from its journal, has none and is
//           checked.
// Does not: check anything. Whoever marks a value vouches that it is plain data, canonical within the usual limits, and frozen all the
//           way down, so that it stays so.
import type { Json } from './json.ts';

/** Form of a known value: any JSON, or an answer that a model gave. */
export type KnownForm = 'json' | 'model-outcome';

/** Returns the object that it is given: a class that extends this one adds its private field to that object. */
// eslint-disable-next-line @typescript-eslint/no-extraneous-class -- the way to add a private field to an object that exists
class GivenObject {
  constructor(value: object) {
    return value;
  }
}

// A private field is invisible to everybody else, and costs a tenth of an entry in a WeakMap.
class KnownValue extends GivenObject {
  readonly #form: KnownForm;

  constructor(value: object, form: KnownForm) {
    super(value);
    this.#form = form;
  }

  static getForm(value: object): KnownForm | undefined {
    return #form in value ? value.#form : undefined;
  }
}

/** Freezes a value and marks it. What it holds must be frozen already. A value can be marked once. */
export function markCanonical<Value extends object>(value: Value, form: KnownForm = 'json'): Value {
  // Marked before it is frozen: a frozen object need not take a new field, not even a private one.
  new KnownValue(value, form);
  return Object.freeze(value);
}

/** Returns the form of a marked value; undefined if it has to be checked. */
export function getKnownForm(value: unknown): KnownForm | undefined {
  return typeof value === 'object' && value !== null ? KnownValue.getForm(value) : undefined;
}

/** True if a value is marked: it is canonical within the usual limits, and frozen all the way down. */
export const isKnownCanonical = (value: unknown): value is Json => getKnownForm(value) !== undefined;
