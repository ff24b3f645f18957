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

function decodeReference(whole: string, body: string): string {
  if (/^#[xX]/.test(body)) return decodeNumber(Number.parseInt(body.slice(2), 16), whole);
  if (body.startsWith('#')) return decodeNumber(Number(body.slice(1)), whole);
  return Object.hasOwn(named, body) ? (named[body] ?? whole) : whole;
}

/** Replaces character references by their characters. Unknown ones stay as they are. */
export const decodeEntities = (text: string): string =>
  text.replaceAll(/&(#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z]{2,8});/g, (whole, body: string) => decodeReference(whole, body));
