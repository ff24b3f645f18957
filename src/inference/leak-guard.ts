// Some models write a call's arguments into their text as well. Such text is no answer, and nobody should see it.
import type { Json } from '../lib/index.ts';
import { stableStringify } from '../lib/index.ts';
import { createJsonPrefix } from './json-prefix.ts';
import { parseJson } from './parse-arguments.ts';

/** True where the whole text is JSON that equals the arguments of one of the calls. JSON inside prose is prose. */
export function isLeakedArguments(text: string, calls: readonly { readonly args: Json; readonly rawArgs?: string }[]): boolean {
  const value = calls.length === 0 ? undefined : parseJson(text.trim());
  if (typeof value !== 'object' || value === null) return false;
  const leaked = stableStringify(value);
  return calls.some(({ args, rawArgs }) => rawArgs === undefined && stableStringify(args) === leaked);
}

/** Holds back text that may turn out to be leaked arguments. */
export interface TextHold {
  /** Takes more text and gives what may be shown now. */
  take(text: string): string;
  /** True as long as all text so far may still be JSON. */
  isHolding(): boolean;
  /** Gives what is held and lets all text through from now on. */
  release(): string;
}

/** Holds text back until it stops being the beginning of a JSON object or array. */
export function createTextHold(): TextHold {
  const prefix = createJsonPrefix();
  let held = '';
  let holding = true;
  const release = (): string => {
    const text = held;
    held = '';
    holding = false;
    return text;
  };
  return {
    take: (text) => {
      if (!holding) return text;
      held += text;
      return prefix.take(text) ? '' : release();
    },
    isHolding: () => holding,
    release,
  };
}
