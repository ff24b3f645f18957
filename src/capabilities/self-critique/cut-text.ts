/** The text, cut to `length` UTF-16 units (1 or more) with a mark at its end; a character is never cut in two. */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  // The mark takes one.
  const lastUnit = text.charCodeAt(length - 2);
  const splitsPair = lastUnit >= 0xd800 && lastUnit <= 0xdbff;
  return `${text.slice(0, splitsPair ? length - 2 : length - 1)}…`;
}
