// Addresses that a link may have.

const allowed = new Set(['http:', 'https:', 'mailto:']);

/** Returns the address if a click on it is harmless: http, https and mailto only, and never relative to this page. */
export function toSafeLink(address: string): string | undefined {
  // Browsers ignore some of these, and all of them can hide what an address is.
  const text = address.replaceAll(/[\s\p{Cc}\p{Cf}]/gu, '');
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  return allowed.has(url.protocol) ? url.href : undefined;
}
