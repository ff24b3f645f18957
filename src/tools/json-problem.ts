// Finds the place where a text stops being JSON, so that a model can mend its own arguments. Engines say it in different
// words, or not at all; what a model reads must not depend on the engine.
import { clipText } from './clip-text.ts';

type Token = 'string' | 'scalar' | '{' | '}' | '[' | ']' | ':' | ',';
type State = 'value' | 'first-item' | 'name' | 'first-name' | 'colon' | 'after-item' | 'after-field' | 'end';
type Move = State | 'open' | 'close' | 'done';

interface Expectation {
  readonly expected: string;
  readonly moves: Readonly<Partial<Record<Token, Move>>>;
}

const value = { string: 'done', scalar: 'done', '{': 'open', '[': 'open' } as const;
const states: Readonly<Record<State, Expectation>> = {
  value: { expected: 'a value', moves: value },
  'first-item': { expected: 'a value or "]"', moves: { ...value, ']': 'close' } },
  name: { expected: 'a name in double quotes', moves: { string: 'colon' } },
  'first-name': { expected: 'a name in double quotes or "}"', moves: { string: 'colon', '}': 'close' } },
  colon: { expected: '":"', moves: { ':': 'value' } },
  'after-item': { expected: '"," or "]"', moves: { ',': 'value', ']': 'close' } },
  'after-field': { expected: '"," or "}"', moves: { ',': 'name', '}': 'close' } },
  end: { expected: 'nothing more', moves: {} },
};

const marks: ReadonlySet<string> = new Set(['{', '}', '[', ']', ':', ',']);
const isMark = (mark: string): mark is Exclude<Token, 'string' | 'scalar'> => marks.has(mark);
const matcher = (source: string): ((text: string, at: number) => number) => {
  return (text, at) => {
    const pattern = new RegExp(source, 'y');
    pattern.lastIndex = at;
    return pattern.test(text) ? pattern.lastIndex : at;
  };
};
const skipSpace = matcher('[ \\t\\n\\r]+');
const skipScalar = matcher('true|false|null|-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][+-]?\\d+)?');
const skipEscape = matcher('\\\\(?:["\\\\/bfnrt]|u[0-9a-fA-F]{4})');

interface Problem {
  readonly at: number;
  readonly expected: string;
}

type Read =
  { readonly token: Token; readonly end: number; readonly broken?: undefined } | { readonly token: Token; readonly broken: Problem };

function readString(text: string, start: number): Read {
  for (let at = start + 1; at < text.length;) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) return { token: 'string', end: at + 1 };
    const next = unit === 0x5c ? skipEscape(text, at) : at + (unit < 0x20 ? 0 : 1);
    if (next === at)
      return { token: 'string', broken: { at, expected: unit === 0x5c ? 'a valid escape' : 'control characters to be escaped' } };
    at = next;
  }
  return { token: 'string', broken: { at: text.length, expected: 'a closing double quote' } };
}

function readToken(text: string, at: number): Read | undefined {
  const mark = text.charAt(at);
  if (mark === '"') return readString(text, at);
  if (isMark(mark)) return { token: mark, end: at + 1 };
  const end = skipScalar(text, at);
  return end === at ? undefined : { token: 'scalar', end };
}

function afterValue(open: readonly Token[]): State {
  const inner = open.at(-1);
  return inner === undefined ? 'end' : inner === '[' ? 'after-item' : 'after-field';
}

// Keeps what is open, and says what may come next.
function follow(move: Move, token: Token, open: Token[]): State {
  if (move === 'open') open.push(token);
  if (move === 'close') open.pop();
  if (move === 'open') return token === '[' ? 'first-item' : 'first-name';
  return move === 'close' || move === 'done' ? afterValue(open) : move;
}

function findProblem(text: string): Problem | undefined {
  const open: Token[] = [];
  let state: State = 'value';
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const { expected, moves } = states[state];
    const read = readToken(text, at);
    const move = read === undefined ? undefined : moves[read.token];
    if (read === undefined || move === undefined) return { at, expected };
    if (read.broken !== undefined) return read.broken;
    state = follow(move, read.token, open);
    at = read.end;
  }
  return state === 'end' ? undefined : { at: text.length, expected: states[state].expected };
}

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at).split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
}

/** Where a text stops being JSON, in words; undefined where it is JSON. */
export function jsonProblem(text: string): string | undefined {
  const problem = findProblem(text);
  if (problem === undefined) return undefined;
  const { at, expected } = problem;
  const found = at >= text.length ? 'but the text ends' : `found ${JSON.stringify(clipText(text.slice(at, at + 40), 20))}`;
  return `at ${placeOf(text, at)}: expected ${expected}, ${found}`;
}
