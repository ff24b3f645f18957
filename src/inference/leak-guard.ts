// Some models write a call's arguments into their text as well. Such text is not an answer, and nobody should see it.
import type { Json } from '../lib/index.ts';
import { JsonScanner, stableStringify } from '../lib/index.ts';
import { parseJson } from './parse-arguments.ts';

/** True if the whole text is JSON that equals the arguments of one of the calls. JSON inside prose is prose. */
export function isLeakedArguments(text: string, calls: readonly { readonly args: Json; readonly rawArgs?: string }[]): boolean {
  const trimmed = text.trim();
  // Parsing no text at all would throw inside, for every answer that only calls.
  const value = calls.length === 0 || trimmed === '' ? undefined : parseJson(trimmed);
  if (typeof value !== 'object' || value === null) return false;
  const leaked = stableStringify(value);
  return calls.some(({ args, rawArgs }) => rawArgs === undefined && stableStringify(args) === leaked);
}

/** Holds text back until it stops being the beginning of a JSON object or array: it may be leaked arguments. */
export class TextHold {
  readonly #scanner = new JsonScanner('container');
  #held = '';
  #isHolding = true;

  /** True as long as all text so far may still be JSON. */
  get isHolding(): boolean {
    return this.#isHolding;
  }

  /** Takes more text. Returns what may be shown now. */
  take(text: string): string {
    if (!this.#isHolding) return text;
    this.#held += text;
    return this.#scanner.take(text) ? '' : this.release();
  }

  /** Returns what is held, and lets all text through from now on. */
  release(): string {
    const text = this.#held;
    this.#held = '';
    this.#isHolding = false;
    return text;
  }
}
