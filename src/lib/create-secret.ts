/** Creates 256 random bits as text, for signatures and the like. Do not use ids for that: they can be guessed. */
export function createSecret(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(32)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
