import { checkKeys } from './check-keys.ts';
import type { Json, JsonObject } from './json.ts';
import { isList, isRecord, setOwn } from './json.ts';
import { isSecretKey, splitKey } from './secret-key.ts';
import { namedValuePatterns, secretPatterns } from './secret-text.ts';

/** Takes secrets out of what is shown: logs, traces, error texts, payloads. Never out of what is stored. */
export interface Redactor {
  /** The text without its secrets; the same text when it has none. */
  readonly text: (value: string) => string;
  /** The value without its secrets, as a copy; the very same value when it has none. */
  readonly value: (value: Json) => Json;
}

/** Options for secrets beyond the obvious ones. */
export interface RedactorOptions {
  /** Names of further fields, in any spelling (`sessionId` is also `session_id`). */
  readonly keys?: readonly string[];
  /** Further patterns; each whole match is taken out. */
  readonly patterns?: readonly RegExp[];
  /** Replacement for a secret. @default '[redacted]' */
  readonly replacement?: string;
}

interface Rules {
  readonly isSecret: (key: string) => boolean;
  readonly patterns: readonly RegExp[];
  readonly replacement: string;
}

function forAllMatches(pattern: RegExp): RegExp {
  return new RegExp(pattern.source, `${pattern.flags.replace(/[gy]/g, '')}g`);
}

// String.replace passes the named groups last, if the pattern has any.
function readGroup(found: readonly unknown[], name: string): string {
  const groups = found.at(-1);
  const text = isRecord(groups) ? groups[name] : undefined;
  return typeof text === 'string' ? text : '';
}

function redactText(text: string, rules: Rules): string {
  let result = text;
  const cut = (...found: unknown[]): string => `${readGroup(found, 'before')}${rules.replacement}${readGroup(found, 'after')}`;
  for (const pattern of rules.patterns) result = result.replace(pattern, cut);
  for (const pattern of namedValuePatterns) {
    result = result.replace(pattern, (...found: unknown[]) => (rules.isSecret(readGroup(found, 'key')) ? cut(...found) : String(found[0])));
  }
  return result;
}

function redactField(key: string, value: Json, rules: Rules): Json {
  // Booleans, null and '' say only whether there is a secret. A number beside the word token is a count.
  const isBare = typeof value === 'boolean' || value === null || value === '' || (typeof value === 'number' && /token$/i.test(key));
  return isBare || !rules.isSecret(key) ? redactValue(value, rules) : rules.replacement;
}

function redactFields(source: JsonObject, rules: Rules): JsonObject {
  const copy: Record<string, Json> = {};
  let changed = false;
  for (const [key, value] of Object.entries(source)) {
    const next = redactField(key, value, rules);
    changed ||= next !== value;
    setOwn(copy, key, next);
  }
  return changed ? copy : source;
}

function redactList(source: readonly Json[], rules: Rules): readonly Json[] {
  const copy = source.map((item) => redactValue(item, rules));
  return copy.some((item, index) => item !== source[index]) ? copy : source;
}

function redactValue(value: Json, rules: Rules): Json {
  if (typeof value === 'string') return redactText(value, rules);
  if (typeof value !== 'object' || value === null) return value;
  return isList(value) ? redactList(value, rules) : redactFields(value, rules);
}

/** Makes a redactor that knows the obvious secrets and the ones named in the options. */
export function createRedactor(options: RedactorOptions = {}): Redactor {
  const { keys = [], patterns = [], replacement = '[redacted]' } = options;
  // A misspelled option would let secrets through.
  checkKeys('createRedactor()', options, ['keys', 'patterns', 'replacement']);
  const named = new Set(keys.map(splitKey));
  const rules: Rules = {
    isSecret: (key) => isSecretKey(key) || (named.size > 0 && named.has(splitKey(key))),
    patterns: [...secretPatterns, ...patterns.map(forAllMatches)],
    replacement,
  };
  return {
    text: (value) => redactText(value, rules),
    value: (value) => redactValue(value, rules),
  };
}

/** Default redactor. */
export const defaultRedactor: Redactor = createRedactor();
