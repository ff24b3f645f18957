/** Counts the UTF-8 bytes of a text. Half of a surrogate pair counts as the three bytes of the character that replaces it. */
export function countBytes(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    const isPair = unit >= 0xd800 && unit <= 0xdbff && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00;
    // Both halves together take four bytes.
    if (isPair) index += 1;
  }
  return bytes;
}
