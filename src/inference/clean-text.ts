import { toCanonical } from '../lib/index.ts';

/** The text as it is kept: broken surrogates and NUL replaced. */
export function cleanText(text: string): string {
  const canonical = toCanonical(text, { maxBytes: Number.POSITIVE_INFINITY });
  return canonical.ok && typeof canonical.value === 'string' ? canonical.value : '';
}
