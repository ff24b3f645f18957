// Signed texts, with WebCrypto.
// G1. A text that was not signed with this key for this purpose is never read.
import { describeValue, InvalidArgumentError, parseJsonText } from '../../lib/index.ts';

/** Signs values, and reads what it signed. */
export interface Signer {
  /** Returns a value as text with a signature. */
  sign(purpose: string, value: unknown): Promise<string>;
  /** Returns the value of a signed text; undefined if the signature is not right. */
  read(purpose: string, text: string): Promise<unknown>;
}

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const hmac = { name: 'HMAC', hash: 'SHA-256' };
const longest = 4096;
const encoder = new TextEncoder();

const toBase64Url = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> | undefined {
  if (!/^[\w-]+$/.test(text)) return undefined;
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Creates a key from a secret; without one, a random key, which ends with the process. */
function createKey(secret: string | undefined): Promise<Key> {
  const uses: ('sign' | 'verify')[] = ['sign', 'verify'];
  // Holds: only keys of other algorithms come in pairs.
  if (secret === undefined) return crypto.subtle.generateKey(hmac, false, uses) as Promise<Key>;
  if (typeof secret !== 'string' || encoder.encode(secret).byteLength < 32)
    throw new InvalidArgumentError(
      `The secret must be a string of at least 32 bytes, not ${typeof secret === 'string' ? 'a shorter one' : describeValue(secret)}. Use a random one, the same in every process that serves the same sessions.`,
    );
  return crypto.subtle.importKey('raw', encoder.encode(secret), hmac, false, uses);
}

/** Creates a signer with a secret, or with a key of its own. */
export function createSigner(secret?: string): Signer {
  const key = createKey(secret);
  const toBytes = (purpose: string, body: string): Uint8Array<ArrayBuffer> => encoder.encode(`${purpose}\n${body}`);
  return {
    sign: async (purpose, value) => {
      const body = toBase64Url(encoder.encode(JSON.stringify(value)));
      const signature = await crypto.subtle.sign(hmac.name, await key, toBytes(purpose, body));
      return `${body}.${toBase64Url(new Uint8Array(signature))}`;
    },
    read: async (purpose, text) => {
      const [body = '', signature = '', ...rest] = text.length > longest ? [] : text.split('.');
      const [bytes, signed] = [fromBase64Url(body), fromBase64Url(signature)];
      if (bytes === undefined || signed === undefined || rest.length > 0) return undefined;
      // A signature has one spelling: another one of the same bytes is not ours.
      if (toBase64Url(signed) !== signature) return undefined;
      if (!(await crypto.subtle.verify(hmac.name, await key, signed, toBytes(purpose, body)))) return undefined;
      return parseJsonText(new TextDecoder().decode(bytes));
    },
  };
}
