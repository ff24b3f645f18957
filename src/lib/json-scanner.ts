// The JSON scanner
// Owns:     reading JSON text in pieces: if it may still become JSON, and the position and cause if it cannot.
// Does not: keep the text, or build a value.
// P1. The characters of a string are read once, whatever the pieces.
// P2. `end` finds no problem exactly if JSON.parse accepts the text.

type Mark = '{' | '}' | '[' | ']' | ':' | ',';
type Token = Mark | 'string' | 'scalar';
type State = 'value' | 'container' | 'first-item' | 'name' | 'first-name' | 'colon' | 'after-item' | 'after-field' | 'end';
type Move = State | 'open' | 'close' | 'done';

interface Expectation {
  readonly expected: string;
  readonly moves: Readonly<Partial<Record<Token, Move>>>;
}

const container = { '{': 'open', '[': 'open' } as const;
const value = { string: 'done', scalar: 'done', ...container } as const;
const states: Readonly<Record<State, Expectation>> = {
  value: { expected: 'a value', moves: value },
  container: { expected: 'an object or an array', moves: container },
  'first-item': { expected: 'a value or "]"', moves: { ...value, ']': 'close' } },
  name: { expected: 'a name in double quotes', moves: { string: 'colon' } },
  'first-name': { expected: 'a name in double quotes or "}"', moves: { string: 'colon', '}': 'close' } },
  colon: { expected: '":"', moves: { ':': 'value' } },
  'after-item': { expected: '"," or "]"', moves: { ',': 'value', ']': 'close' } },
  'after-field': { expected: '"," or "}"', moves: { ',': 'name', '}': 'close' } },
  end: { expected: 'nothing more', moves: {} },
};

const isMark = (character: string): character is Mark => '{}[]:,'.includes(character);
const isSpace = (character: string): boolean => ' \t\n\r'.includes(character);
const scalarRun = /[\w.+-]*/y;
// All but double quotes, backslashes and control characters.
const plainRun = /[ !#-[\]-\uffff]*/y;
const scalar = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)/;
const scalarStart = /^(?:t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?|-?(?:(?:0|[1-9]\d*)(?:\.\d*|(?:\.\d+)?[eE][+-]?\d*)?)?)$/;
const escape = /^"\\(?:["\\/bfnrt]|u[\da-fA-F]{4})$/;
const escapeStart = /^"\\u[\da-fA-F]{0,3}$/;

function findRunEnd(run: RegExp, text: string, from: number): number {
  run.lastIndex = from;
  run.test(text);
  return run.lastIndex;
}

/** Position at which a text stops being JSON. */
export interface JsonProblem {
  readonly at: number;
  readonly expected: string;
}

/** Reads JSON text piece by piece. */
export class JsonScanner {
  #state: State;
  readonly #open: Token[] = [];
  /** The token that is being read: a scalar so far, or the quote of a string with the escape so far. */
  #token = '';
  /** Start of that token, or of that escape. */
  #start = 0;
  /** Length of the pieces before this one. */
  #length = 0;
  #problem: JsonProblem | undefined;

  /** Accepts any value, or only an object or an array. */
  constructor(accepts: 'value' | 'container' = 'value') {
    this.#state = accepts;
  }

  /** True once a whole value was read, even if something else follows it. A number may still continue. */
  get isComplete(): boolean {
    return this.#state === 'end';
  }

  /** Reads on; false once no text that follows could make it JSON. */
  take(text: string): boolean {
    for (let index = 0; index < text.length && this.#problem === undefined;) index = this.#read(text, index);
    this.#length += text.length;
    return this.#problem === undefined;
  }

  /** Returns the problem with the text as a whole; undefined if it is JSON. */
  end(): JsonProblem | undefined {
    if (this.#token.startsWith('"')) {
      if (this.#token === '"') this.#fail('a closing double quote', this.#length);
      else this.#fail('a valid escape');
    } else if (this.#token !== '') this.#endScalar();
    if (this.#state !== 'end') this.#fail(states[this.#state].expected, this.#length);
    return this.#problem;
  }

  /** Reads at least one character, or ends a scalar. Returns the index of the next one. */
  #read(text: string, index: number): number {
    if (this.#token === '"') return this.#readString(text, index);
    if (this.#token.startsWith('"')) return this.#readEscape(text, index);
    if (this.#token !== '') return this.#readScalar(text, index);
    const character = text.charAt(index);
    if (isSpace(character)) return index + 1;
    this.#start = this.#length + index;
    const token = isMark(character) ? character : character === '"' ? 'string' : 'scalar';
    if (states[this.#state].moves[token] === undefined) this.#fail();
    else if (token === 'scalar') return this.#readScalar(text, index);
    else if (token === 'string') this.#token = '"';
    else this.#step(token);
    return index + 1;
  }

  #readString(text: string, index: number): number {
    const end = findRunEnd(plainRun, text, index);
    if (end > index) return end;
    this.#start = this.#length + index;
    if (text.charAt(index) === '"') this.#step('string');
    else if (text.charAt(index) === '\\') this.#token = '"\\';
    else this.#fail('control characters to be escaped');
    return index + 1;
  }

  #readEscape(text: string, index: number): number {
    this.#token += text.charAt(index);
    if (escape.test(this.#token)) this.#token = '"';
    else if (!escapeStart.test(this.#token)) this.#fail('a valid escape');
    return index + 1;
  }

  #readScalar(text: string, index: number): number {
    const end = findRunEnd(scalarRun, text, index);
    this.#token += text.slice(index, end);
    // The next piece may continue with it.
    if (end < text.length || !scalarStart.test(this.#token)) this.#endScalar();
    return end;
  }

  #endScalar(): void {
    const { length } = this.#token;
    const read = scalar.exec(this.#token)?.[0].length ?? 0;
    if (read > 0) this.#step('scalar');
    if (read < length || read === 0) this.#fail(states[this.#state].expected, this.#start + read);
  }

  #step(token: Token): void {
    const move = states[this.#state].moves[token] ?? 'end';
    this.#token = '';
    if (move === 'open') this.#open.push(token);
    if (move === 'close') this.#open.pop();
    if (move === 'open') this.#state = token === '[' ? 'first-item' : 'first-name';
    else if (move !== 'close' && move !== 'done') this.#state = move;
    else this.#state = this.#open.length === 0 ? 'end' : this.#open.at(-1) === '[' ? 'after-item' : 'after-field';
  }

  #fail(expected = states[this.#state].expected, at = this.#start): void {
    this.#problem ??= { at, expected };
  }
}
