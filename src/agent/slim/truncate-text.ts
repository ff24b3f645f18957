/** Stands at the end of a text that was cut. */
export const cutMark = '…';

/** Shortens the text to at most `max` code points; if anything was cut, the last one is the mark. `max` is 1 or more. */
export function truncateText(text: string, max: number): string {
  // A code point takes one or two units, so a text of few units has few code points.
  if (text.length <= max) return text;
  let [count, end, kept] = [0, 0, 0];
  // Ends after `max` code points, however long the text is.
  for (const point of text) {
    count += 1;
    if (count > max) return text.slice(0, kept) + cutMark;
    end += point.length;
    if (count < max) kept = end;
  }
  return text;
}
