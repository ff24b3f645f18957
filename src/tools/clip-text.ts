/** Cuts text to about `length` at a whole character, and marks the cut. */
export function clipText(text: string, length: number): string {
  if (text.length <= length) return text;
  const lastUnit = text.charCodeAt(length - 1);
  const splitsPair = lastUnit >= 0xd800 && lastUnit <= 0xdbff;
  return `${text.slice(0, splitsPair ? length - 1 : length)}…`;
}

/** Quotes and shortens an untrusted name so that it is safe to show. */
export function quoteName(name: string): string {
  return JSON.stringify(clipText(name, 80));
}
