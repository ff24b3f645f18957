/** The text, cut to about `length` on a whole character, with a mark where something was cut. */
export function clipText(text: string, length: number): string {
  if (text.length <= length) return text;
  const lastUnit = text.charCodeAt(length - 1);
  const splitsPair = lastUnit >= 0xd800 && lastUnit <= 0xdbff;
  return `${text.slice(0, splitsPair ? length - 1 : length)}…`;
}

/** A name that somebody else made up, safe to show: quoted and not too long. */
export function quoted(name: string): string {
  return JSON.stringify(clipText(name, 80));
}
