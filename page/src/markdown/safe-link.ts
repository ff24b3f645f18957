// Addresses that a link may have.

const allowed = new Set(['http:', 'https:', 'mailto:']);

/** Returns the address if a click on it is harmless: http, https and mailto only, and never relative to this page. */
export function toSafeLink(address: string): string | undefined {
  // A browser ignores spaces and control characters that would hide a scheme.
  const text = address.replaceAll(/[\u0000-\u0020\u007f-\u009f\u200b-\u200f\u2028-\u202e\ufeff]/g, '');
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return allowed.has(url.protocol) ? url.href : undefined;
}
