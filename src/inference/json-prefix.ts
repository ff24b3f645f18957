// The JSON prefix reader
// Owns:     whether the text so far may still become one JSON object or array, told piece by piece.
// Does not: keep the text, or build a value.
// P1. It reads each character once, whatever the pieces.
// P2. It is complete exactly where JSON.parse would take the text.

/** Reads text that may become a JSON object or array. */
export interface JsonPrefix {
  /** Reads on; false once no text that follows could make it JSON. */
  take(text: string): boolean;
  /** True where the text so far is a whole object or array. */
  isComplete(): boolean;
}

type Place =
  | 'start'
  | 'value'
  | 'first-value'
  | 'key'
  | 'first-key'
  | 'colon'
  | 'after'
  | 'string'
  | 'escape'
  | 'hex'
  | 'word'
  | 'number'
  | 'done'
  | 'broken';
type NumberPlace = 'minus' | 'zero' | 'whole' | 'dot' | 'fraction' | 'exponent' | 'sign' | 'power';
type Symbols = Readonly<Partial<Record<string, NumberPlace>>>;

const digits = '0123456789';
const each = (characters: string, place: NumberPlace): Symbols =>
  Object.fromEntries([...characters].map((character) => [character, place]));
const exponents = each('eE', 'exponent');
const numbers: Readonly<Record<NumberPlace, Symbols>> = {
  minus: { ...each(digits, 'whole'), 0: 'zero' },
  zero: { '.': 'dot', ...exponents },
  whole: { ...each(digits, 'whole'), '.': 'dot', ...exponents },
  dot: each(digits, 'fraction'),
  fraction: { ...each(digits, 'fraction'), ...exponents },
  exponent: { ...each('+-', 'sign'), ...each(digits, 'power') },
  sign: each(digits, 'power'),
  power: each(digits, 'power'),
};
const numberStarts: Symbols = { ...numbers.minus, '-': 'minus' };
const numberEnds: ReadonlySet<NumberPlace> = new Set(['zero', 'whole', 'fraction', 'power'] as const);
const words: Readonly<Partial<Record<string, string>>> = { t: 'rue', f: 'alse', n: 'ull' };
const spaces = ' \t\n\r';
const hexDigits = '0123456789abcdefABCDEF';

const only = (fits: boolean, place: Place): Place => (fits ? place : 'broken');

class PrefixReader implements JsonPrefix {
  #place: Place = 'start';
  #number: NumberPlace = 'minus';
  #isKey = false;
  /** What is missing of `true`, `false` or `null`. */
  #rest = '';
  #hexLeft = 0;
  /** What will close each object and array that is open, innermost last. */
  readonly #closers: string[] = [];

  take(text: string): boolean {
    for (let index = 0; index < text.length && this.#place !== 'broken'; index += 1) this.#place = this.#next(text.charAt(index));
    return this.#place !== 'broken';
  }

  isComplete(): boolean {
    return this.#place === 'done';
  }

  #next(character: string): Place {
    switch (this.#place) {
      case 'string':
        return this.#inString(character);
      case 'escape':
        this.#hexLeft = 4;
        return only('"\\/bfnrtu'.includes(character), character === 'u' ? 'hex' : 'string');
      case 'hex':
        this.#hexLeft -= 1;
        return only(hexDigits.includes(character), this.#hexLeft === 0 ? 'string' : 'hex');
      case 'word':
        return this.#inWord(character);
      case 'number':
        return this.#inNumber(character);
      default:
        return spaces.includes(character) ? this.#place : this.#between(character, this.#place);
    }
  }

  #between(character: string, place: Place): Place {
    switch (place) {
      case 'start':
        return only(character === '{' || character === '[', this.#value(character));
      case 'first-value':
        return character === ']' ? this.#close(character) : this.#value(character);
      case 'value':
        return this.#value(character);
      case 'first-key':
        return character === '}' ? this.#close(character) : this.#key(character);
      case 'key':
        return this.#key(character);
      case 'colon':
        return only(character === ':', 'value');
      case 'after':
        if (character !== ',') return this.#close(character);
        return this.#closers.at(-1) === '}' ? 'key' : 'value';
      default:
        return 'broken';
    }
  }

  #key(character: string): Place {
    this.#isKey = true;
    return only(character === '"', 'string');
  }

  #close(character: string): Place {
    const fits = this.#closers.pop() === character;
    return only(fits, this.#closers.length === 0 ? 'done' : 'after');
  }

  #value(character: string): Place {
    this.#isKey = false;
    if (character === '"') return 'string';
    if (character === '{' || character === '[') {
      this.#closers.push(character === '{' ? '}' : ']');
      return character === '{' ? 'first-key' : 'first-value';
    }
    const number = numberStarts[character];
    this.#number = number ?? 'minus';
    this.#rest = words[character] ?? '';
    return number === undefined ? only(this.#rest !== '', 'word') : 'number';
  }

  #inString(character: string): Place {
    if (character === '"') return this.#isKey ? 'colon' : 'after';
    // A control character must be escaped.
    return only(character >= ' ', character === '\\' ? 'escape' : 'string');
  }

  #inWord(character: string): Place {
    const fits = this.#rest.startsWith(character);
    this.#rest = this.#rest.slice(1);
    return only(fits, this.#rest === '' ? 'after' : 'word');
  }

  #inNumber(character: string): Place {
    const next = numbers[this.#number][character];
    if (next === undefined) {
      // Only what comes after a number tells that it has ended.
      if (!numberEnds.has(this.#number)) return 'broken';
      return spaces.includes(character) ? 'after' : this.#between(character, 'after');
    }
    this.#number = next;
    return 'number';
  }
}

/** Starts to read; only an object or an array counts, after any space. */
export function createJsonPrefix(): JsonPrefix {
  return new PrefixReader();
}
