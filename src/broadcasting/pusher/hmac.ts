// HMAC-SHA256 without waiting: a request is signed at the moment it is sent.
import { sha256 } from '../../lib/index.ts';

const encoder = new TextEncoder();
const blockBytes = 64;

const fromHex = (text: string): Uint8Array => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

function concat(one: Uint8Array, other: Uint8Array): Uint8Array {
  const all = new Uint8Array(one.length + other.length);
  all.set(one);
  all.set(other, one.length);
  return all;
}

/** Returns the HMAC-SHA256 of a text as hex. */
export function toHmac(secret: string, text: string): string {
  const given = encoder.encode(secret);
  const key = given.length > blockBytes ? fromHex(sha256(given)) : given;
  const pad = (filler: number): Uint8Array => Uint8Array.from({ length: blockBytes }, (_, index) => (key[index] ?? 0) ^ filler);
  return sha256(concat(pad(0x5c), fromHex(sha256(concat(pad(0x36), encoder.encode(text))))));
}
