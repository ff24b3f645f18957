/** Escapes one part of a key whose parts are joined with "/", so that different parts never give the same key. */
export function escapePart(part: string): string {
  return part.includes('/') || part.includes('%') ? part.replaceAll('%', '%25').replaceAll('/', '%2F') : part;
}
