// Character references of HTML, such as &amp;, in text that is never read as HTML.

const named: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: '\u00a0',
  hellip: '…',
  ndash: '–',
  mdash: '—',
  copy: '©',
  reg: '®',
  trade: '™',
  euro: '€',
  pound: '£',
  deg: '°',
  times: '×',
  middot: '·',
  bull: '•',
  larr: '←',
  rarr: '→',
  uarr: '↑',
  darr: '↓',
  le: '≤',
  ge: '≥',
  ne: '≠',
  laquo: '«',
  raquo: '»',
};

function decodeNumber(code: number, whole: string): string {
  const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : whole;
}

/** Replaces character references by their characters. Unknown ones stay as they are. */
export const decodeEntities = (text: string): string =>
  text.replaceAll(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z]{2,8}));/g, (whole, decimal?: string, hex?: string, name?: string) => {
    if (decimal !== undefined) return decodeNumber(Number(decimal), whole);
    if (hex !== undefined) return decodeNumber(Number.parseInt(hex, 16), whole);
    return name !== undefined && Object.hasOwn(named, name) ? (named[name] ?? whole) : whole;
  });
