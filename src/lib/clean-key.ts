import { cleanText } from './clean-text.ts';

const cleanKeys = new Set<string>();
const mostCleanKeys = 1000;

/** True if the name of a field can be stored as it is. With a cache, because the same names occur again and again. */
export function isCleanKey(key: string): boolean {
  if (cleanKeys.has(key)) return true;
  if (cleanText(key) !== key) return false;
  if (cleanKeys.size < mostCleanKeys) cleanKeys.add(key);
  return true;
}
