// Some models write their calls into their text as well. Such text is not an answer, and nobody should see it.
import { JsonScanner } from '../lib/index.ts';

const isSpace = (character: string): boolean => character.trim() === '';
const languageCharacter = /[\w.+-]/;
const fenceLength = 3;

/** Reads text in pieces: objects and arrays, one after another, with or without code fences around them. */
class JsonTextReader {
  /** True once an object, an array or a code fence has begun. */
  hasBegun = false;
  /** Reads the object or array that has begun; it ends with the next character that is not space. */
  #scanner: JsonScanner | undefined;
  /** Number of characters that the scanner was given before this piece. */
  #scanned = 0;
  /** Length of the run of backticks at the end of the text so far. */
  #ticks = 0;
  #isInFence = false;
  /** True while the word after an opening fence is read. */
  #isInLanguage = false;

  /** Reads on; false once the text is anything else. */
  take(text: string): boolean {
    let index = 0;
    while (index < text.length) {
      const next = this.#scanner === undefined ? this.#readBetween(text, index) : this.#readJson(this.#scanner, text, index);
      if (next === undefined) return false;
      index = next;
    }
    return true;
  }

  /** Returns the index behind what belongs to the object or array; undefined if it is not JSON. */
  #readJson(scanner: JsonScanner, text: string, index: number): number | undefined {
    const rest = text.slice(index);
    const start = this.#scanned;
    this.#scanned += rest.length;
    if (scanner.take(rest)) return text.length;
    if (!scanner.isComplete) return undefined;
    this.#scanner = undefined;
    return index + (scanner.end()?.at ?? 0) - start;
  }

  /** Reads one character outside of objects and arrays. Returns the index of the next one; undefined if it does not belong there. */
  #readBetween(text: string, index: number): number | undefined {
    const character = text.charAt(index);
    if (character === '`') {
      this.#ticks += 1;
      this.#isInLanguage = false;
      this.hasBegun ||= this.#ticks === fenceLength;
      return index + 1;
    }
    if (this.#ticks > 0 && !this.#endTicks()) return undefined;
    if (this.#isInLanguage && languageCharacter.test(character)) return index + 1;
    this.#isInLanguage = false;
    if (isSpace(character)) return index + 1;
    if (character !== '{' && character !== '[') return undefined;
    this.hasBegun = true;
    this.#scanner = new JsonScanner('container');
    this.#scanned = 0;
    return index;
  }

  #endTicks(): boolean {
    const isFence = this.#ticks >= fenceLength;
    this.#ticks = 0;
    this.#isInFence = !this.#isInFence;
    this.#isInLanguage = this.#isInFence;
    return isFence;
  }
}

/** Tells if text consists of JSON objects and arrays only: beside tool calls, such text is not shown. */
export class JsonText {
  readonly #reader = new JsonTextReader();
  #isPossible = true;

  /** True as long as all text so far may still be JSON, or the fences around it. */
  get isPossible(): boolean {
    return this.#isPossible;
  }

  /** True if the text so far consists of objects and arrays only, fenced or not; the last one may be cut off. */
  get isOnlyJson(): boolean {
    return this.#isPossible && this.#reader.hasBegun;
  }

  /** Takes more text. */
  take(text: string): this {
    this.#isPossible &&= this.#reader.take(text);
    return this;
  }
}
