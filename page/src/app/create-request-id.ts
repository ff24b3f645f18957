/** Returns an id that no other request has. Unlike crypto.randomUUID(), it works on a page without HTTPS too. */
export const createRequestId = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
