import { quoteText } from './quote-text.ts';

const longestScanned = 40;

/** True if a text is short and has only characters that are stored unchanged. False means unknown. */
function isPlainlyClean(text: string): boolean {
  if (text.length > longestScanned) return false;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === 0 || (unit >= 0xd800 && unit <= 0xdfff)) return false;
  }
  return true;
}

/** Replaces lone surrogates and NUL with U+FFFD: neither can be stored. Text that has none is returned as it is. */
export function cleanText(text: string): string {
  // Names and ids are short, and every step has dozens: a loop here is faster than two calls into the engine.
  if (isPlainlyClean(text)) return text;
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\uFFFD') : wellFormed;
}

/** True for text that is stored exactly as it is: not empty, no lone surrogate, no NUL. */
export function isCleanText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && cleanText(value) === value;
}

/** Ends a sentence about text that cannot be stored as it is. */
export const describeBrokenText = (text: string): string =>
  `has characters that cannot be stored (half of a surrogate pair, or NUL): ${quoteText(text)}. Leave them out.`;

const cleanKeys = new Set<string>();
const mostCleanKeys = 1000;

/** True if the name of a field can be stored as it is. With a cache, because the same names occur again and again. */
export function isCleanKey(key: string): boolean {
  if (cleanKeys.has(key)) return true;
  if (cleanText(key) !== key) return false;
  if (cleanKeys.size < mostCleanKeys) cleanKeys.add(key);
  return true;
}
