/** Replaces lone surrogates and NUL with U+FFFD: neither can be stored. Text that has none is returned as it is. */
export function cleanText(text: string): string {
  const wellFormed = text.isWellFormed() ? text : text.toWellFormed();
  return wellFormed.includes('\0') ? wellFormed.replaceAll('\0', '\uFFFD') : wellFormed;
}

/** True for text that is stored exactly as it is: not empty, no lone surrogate, no NUL. */
export function isCleanText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && cleanText(value) === value;
}

/** Ends a sentence about text that cannot be stored as it is. */
export const describeBrokenText = (text: string): string =>
  `has characters that cannot be stored (half of a surrogate pair, or NUL): ${JSON.stringify(text)}. Leave them out.`;
