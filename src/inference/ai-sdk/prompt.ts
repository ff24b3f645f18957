import type { JsonObject } from '../../lib/index.ts';
import { isPlainObject, setOwn } from '../../lib/index.ts';

/** One piece of a message in the AI SDK's words. Its fields depend on its type and on the version. */
export interface PromptPart {
  readonly type: string;
  readonly providerOptions?: JsonObject;
  readonly [field: string]: unknown;
}

/** One message in the AI SDK's words. */
export interface PromptMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: string | readonly PromptPart[];
  readonly providerOptions?: JsonObject;
}

/** Adds the provider's own metadata to a prompt part, if there is any. */
export function withOptions<Value extends object>(
  value: Value,
  options: JsonObject | undefined,
): Value & { readonly providerOptions?: JsonObject } {
  return options === undefined ? value : { ...value, providerOptions: options };
}

/** Freezes a part of a prompt. Returns true if it holds a URL: a URL can be changed even then. */
export function freezePart(value: object): boolean {
  // Data of a message is frozen already, and holds no URL.
  if (Object.isFrozen(value)) return false;
  if (value instanceof URL) return true;
  // Holds: any object may be asked for fields by name.
  const hasUrl = Array.isArray(value) ? freezeItems(value) : freezeFields(value as Readonly<Record<string, unknown>>);
  Object.freeze(value);
  return hasUrl;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

function freezeItems(items: readonly unknown[]): boolean {
  let hasUrl = false;
  for (const item of items) if (isObject(item) && freezePart(item)) hasUrl = true;
  return hasUrl;
}

function freezeFields(fields: Readonly<Record<string, unknown>>): boolean {
  let hasUrl = false;
  for (const key in fields) {
    const field = fields[key];
    // Most fields are text.
    if (isObject(field) && Object.hasOwn(fields, key) && freezePart(field)) hasUrl = true;
  }
  return hasUrl;
}

/** Copies plain data with its URLs; anything else in it is taken as it is. */
export function copyPlain<Value>(value: Value): Value;
export function copyPlain(value: unknown): unknown {
  if (value instanceof URL) return new URL(value.href);
  if (Array.isArray(value)) return value.map((item: unknown) => copyPlain(item));
  if (!isPlainObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const key of Object.keys(value)) setOwn(copy, key, copyPlain(value[key]));
  return copy;
}
