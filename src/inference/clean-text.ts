import { toCanonical } from '../lib/index.ts';

/** The text as it is kept: broken surrogates and NUL replaced. */
export function cleanText(text: string): string {
  const canonical = toCanonical(text, { maxBytes: Number.POSITIVE_INFINITY });
  // Holds: a text without a limit to its size is always taken, and stays a text.
  return canonical.ok ? (canonical.value as string) : '';
}
