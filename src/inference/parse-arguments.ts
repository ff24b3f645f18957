import type { Json } from '../lib/index.ts';
import { cleanText, deepFreeze, freezeParsed, mostCanonicalBytes, parseJsonText, toCanonical } from '../lib/index.ts';

const noArguments: Json = Object.freeze({});

/** A call's arguments: parsed, or as the model wrote them if that is not JSON. */
export interface ParsedArguments {
  readonly args: Json;
  readonly rawArgs?: string;
}

/** Limits of a value inside an answer. An answer is stored as a whole, which may be 64 levels deep: this leaves room around the value. */
export const limits: { readonly maxDepth: number; readonly maxBytes: number } = { maxDepth: 48, maxBytes: Number.POSITIVE_INFINITY };

function toText(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return `arguments of type ${typeof value} that cannot be shown`;
  }
}

// A number is the longest for its text: 1e9 is written out, with 26 characters at most.
const bytesPerCharacter = 26;

/** Returns the most bytes that the value in a JSON text can take once it is parsed. */
export const measureJsonText = (text: string): number => bytesPerCharacter * text.length;

/** Parses JSON as strictly as JSON.parse does, and freezes it; undefined if it is not JSON, or too deep to be kept. */
export function parseJson(text: string): Json | undefined {
  const value = parseJsonText(text);
  if (value === undefined) return undefined;
  const isSmall = measureJsonText(text) <= mostCanonicalBytes;
  // Holds: a value that was parsed and found canonical is JSON.
  if (freezeParsed(value, { maxDepth: limits.maxDepth, isSmall })) return value as Json;
  const canonical = toCanonical(value, limits);
  return canonical.ok ? deepFreeze(canonical.value) : undefined;
}

/** Reads a call's arguments, as text or as a value. No text at all means no arguments. */
export function parseArguments(input: unknown): ParsedArguments {
  if (input === undefined || (typeof input === 'string' && input.trim() === '')) return { args: noArguments };
  if (typeof input === 'string') {
    const args = parseJson(input);
    return args === undefined ? { args: null, rawArgs: cleanText(input) } : { args };
  }
  const canonical = toCanonical(input, limits);
  return canonical.ok ? { args: canonical.value } : { args: null, rawArgs: cleanText(toText(input)) };
}
