// Calls that a model wrote into its text, in the markup of its chat template: `<tool_call>{…}</tool_call>` and the like.
// Owns:     where such a block begins and ends in a text.
// Does not: know whether the answer has the call as well: then, and only then, the block is not for readers.
// W1. Text around a block stays. What stands in markup and does not look like a call is text, and so is markup shown as code.
import { JsonScanner } from '../lib/index.ts';
import { JsonText } from './leak-guard.ts';

const names = ['tool_calls', 'tool_call', 'function_calls', 'function_call', 'tool_use', 'tool_code', 'invoke'];
const elementNames = [...names, 'TOOL_CALLS', 'TOOL_CALL', 'TOOLCALLS', 'TOOLCALL', 'FUNCTION_CALL'];
const prefixes = ['', 'antml:', 'minimax:', 'seed:', 'steptml:', 'longcat_', '｜DSML｜', '|DSML|'];

/** Tokens of models around a call, and those that close them. */
const pairs: readonly (readonly [opening: string, closing: string, mayHoldAnything?: true])[] = [
  ['<start_function_call>', '<end_function_call>', true],
  ['<|START_ACTION|>', '<|END_ACTION|>'],
  ['<|action_start|>', '<|action_end|>'],
];

/** The beginnings of all markup. An element may have attributes, so its beginning is open; its end may stand alone. */
const openings: readonly string[] = [
  ...prefixes.flatMap((prefix) => elementNames.flatMap((name) => [`<${prefix}${name}`, `</${prefix}${name}>`])),
  '<function=',
  ...pairs.map(([opening]) => opening),
  ...['|', '｜'].flatMap((bar) => [`<${bar}tool_call`, `<${bar}tool▁call`]),
  '<|python_tag|>',
  ...['', '<|start|>assistant'].flatMap((start) => [`${start}<|channel|>commentary to=`, `${start}<|channel|>analysis to=`]),
  '<|start|>assistant to=',
  ...['TOOL_CALLS', 'TOOL_CALL', 'TOOLCALLS', 'TOOLCALL'].map((name) => `[${name}]`),
  '```tool_call',
  '```function_call',
];
const longestOpening = Math.max(...openings.map(({ length }) => length));

const elementName = `(?:${prefixes.map((prefix) => prefix.replaceAll('|', '\\|')).join('|')})(?:${elementNames.join('|')})`;
const element = new RegExp(`<(${elementName})(?:\\s[^<>]*)?>`, 'y');
// Some chat templates begin a call for the model, which then only ends it.
const strayEnd = new RegExp(`</${elementName}>`, 'y');
const namedFunction = /<function=[^<>\s]+>/y;
// Single tokens of the model: never prose, whatever stands between them.
const section = /<[|｜](tool[_▁]calls?(?:[_▁]section)?)[_▁](?:begin|start)[|｜]>/y;
const fence = /```(?:tool|function)_calls?[ \t]*\n/y;
// Nothing has to close these: the JSON behind them does.
const channel = '(?:<\\|start\\|>assistant)?(?: to=[^<>]*)?<\\|channel\\|>[^<>]*(?:<\\|constrain\\|>[^<>]*)?<\\|message\\|>';
const named = '(?:\\[TOOL_?CALLS?\\]|<\\|python_tag\\|>|<\\|tool_calls?\\|>)\\s*[\\w.:-]*(?:\\[(?:ARGS|CALL_ID)\\][\\w-]*)*';
const unclosed = new RegExp(`(?:${named}|${channel})\\s*`, 'y');
const closingToken = /\s*(?:<(?:\/?\||\|\/)tool_calls?\|>|<\|(?:call|end)\|>|\[\/TOOL_?CALLS?\])/y;

/** A block of markup in a text. */
interface Block {
  readonly begin: number;
  readonly end: number;
  /** False if the text ends before the block does. */
  readonly isWhole: boolean;
}

/** The part of a text from an opening to its end, and what closes it. */
interface Opened {
  readonly bodyAt: number;
  readonly closing: string;
  /** The place from which on what closes it is looked for, if not from the beginning of the body. */
  readonly closingFrom?: number;
  readonly mayHoldAnything?: true | undefined;
}

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Returns the end of the JSON that begins here, or this place if none does: code inside it may have fences of its own. */
function skipJson(text: string, from: number): number {
  const at = from + text.slice(from).search(/\S|$/);
  if (text[at] !== '{' && text[at] !== '[') return from;
  const scanner = new JsonScanner('container');
  const isAll = scanner.take(text.slice(at));
  if (isAll) return text.length;
  return scanner.isComplete ? at + (scanner.end()?.at ?? 0) : from;
}

function readOpening(text: string, at: number): Opened | undefined {
  const tag = match(element, text, at);
  if (tag !== null) return { bodyAt: element.lastIndex, closing: `</${tag[1] ?? ''}>` };
  if (match(namedFunction, text, at) !== null) return { bodyAt: namedFunction.lastIndex, closing: '</function>' };
  if (match(fence, text, at) !== null) {
    const bodyAt = fence.lastIndex;
    return { bodyAt, closing: '```', closingFrom: skipJson(text, bodyAt) };
  }
  const pair = pairs.find(([opening]) => text.startsWith(opening, at));
  if (pair !== undefined) return { bodyAt: at + pair[0].length, closing: pair[1], mayHoldAnything: pair[2] };
  const token = match(section, text, at);
  if (token === null) return undefined;
  const [whole, name = ''] = token;
  const [bar, space] = [whole.includes('｜') ? '｜' : '|', whole.includes('▁') ? '▁' : '_'];
  return { bodyAt: section.lastIndex, closing: `<${bar}${name}${space}end${bar}>`, mayHoldAnything: true };
}

/** True for what stands in markup if it is a call: JSON, elements, or a name with or without arguments. */
function looksLikeCall(body: string): boolean {
  const text = body.trim().replace(/^<\|plugin\|>\s*/, '');
  // What an interpreter is to run may be anything.
  if (text.startsWith('<|interpreter|>')) return true;
  if (text === '' || /^[\w.:-]+\s*(?:[({[<]|$)/.test(text) || /^<[^]*>$/.test(text)) return true;
  return new JsonText().take(text).isOnlyJson;
}

function readUnclosed(text: string, begin: number): Block | undefined {
  if (match(unclosed, text, begin) === null) return undefined;
  const bodyAt = unclosed.lastIndex;
  const scanner = new JsonScanner('container');
  const isAll = scanner.take(text.slice(bodyAt));
  if (!scanner.isComplete) return isAll ? { begin, end: text.length, isWhole: false } : undefined;
  const end = isAll ? text.length : bodyAt + (scanner.end()?.at ?? 0);
  return { begin, end: match(closingToken, text, end) === null ? end : closingToken.lastIndex, isWhole: true };
}

function readBlock(text: string, begin: number): Block | undefined {
  const opened = readOpening(text, begin);
  if (opened === undefined) return readUnclosed(text, begin);
  const { bodyAt, closing, closingFrom = bodyAt, mayHoldAnything } = opened;
  const closedAt = text.indexOf(closing, closingFrom);
  const isWhole = closedAt !== -1;
  const end = isWhole ? closedAt + closing.length : text.length;
  return mayHoldAnything === true || looksLikeCall(text.slice(bodyAt, isWhole ? closedAt : end)) ? { begin, end, isWhole } : undefined;
}

/** True if the text before a position opens a code fence or a code mark: what follows is meant to be seen. */
function opensCode(before: string): boolean {
  if (before.endsWith('`')) return true;
  const fences = before.match(/`{3,}/g);
  return fences !== null && fences.length % 2 === 1;
}

/** True if more text could make the end of a text the beginning of markup. */
function mayOpen(text: string, at: number): boolean {
  if (text.length - at >= longestOpening) return false;
  // A fence begins a line; any other back-tick is part of it.
  if (text[at] === '`' && /\S[^\n]*$/.test(text.slice(Math.max(0, text.lastIndexOf('\n', at - 1) + 1), at))) return false;
  const end = text.slice(at);
  return openings.some((opening) => opening.startsWith(end));
}

/** The beginning of markup in a text. */
interface Opening {
  readonly at: number;
  /** False if the text ends with what may become one. */
  readonly isWhole: boolean;
}

/** Finds the first markup from an index on, or what may become markup if more text follows. */
export function findMarkup(text: string, from = 0): Opening | undefined {
  const start = /[<[`]/g;
  start.lastIndex = from;
  for (let found = start.exec(text); found !== null; found = start.exec(text)) {
    const at = found.index;
    const isWhole = openings.some((opening) => text.startsWith(opening, at));
    if (isWhole || mayOpen(text, at)) return { at, isWhole };
  }
  return undefined;
}

/** Finds the first markup that may be a block behind words, from an index on: it is not an end alone, and not shown as code. */
export function findLeak(text: string, from = 0): Opening | undefined {
  let found = findMarkup(text, from);
  while (found !== undefined && (text.startsWith('</', found.at) || opensCode(text.slice(0, found.at))))
    found = findMarkup(text, found.at + 1);
  return found;
}

/** Returns a text without the whole blocks of markup in it. */
export function removeMarkup(text: string): string {
  let kept = '';
  let from = 0;
  for (let found = findLeak(text); found !== undefined;) {
    const { at } = found;
    const block = readBlock(text, at);
    if (block?.isWhole === true) {
      kept += text.slice(from, at);
      from = block.end;
    }
    found = findLeak(text, Math.max(at + 1, from));
  }
  return kept + text.slice(from);
}

/** Returns the end of markup: a block, an end alone, or a beginning that is cut off. */
function findEnd(text: string, at: number): number | undefined {
  if (match(strayEnd, text, at) !== null) return strayEnd.lastIndex;
  return readBlock(text, at)?.end ?? (mayOpen(text, at) && text[at] !== '`' ? text.length : undefined);
}

/** True if a text consists of nothing but markup and JSON, with or without code fences around them; its end may be cut off. */
export function isOnlyMarkup(text: string): boolean {
  const start = /[<[`]/g;
  let rest = '';
  let from = 0;
  for (let found = start.exec(text); found !== null; found = start.exec(text)) {
    const { index } = found;
    const end = findEnd(text, index);
    if (end === undefined) continue;
    rest += text.slice(from, index);
    from = end;
    start.lastIndex = end;
  }
  const json = new JsonText().take(rest + text.slice(from));
  return json.isPossible && (from > 0 || json.isOnlyJson);
}
