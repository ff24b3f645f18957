// The signature of a webhook: HMAC-SHA256 over the time and the body, with WebCrypto.
// W1. The header is `t=<seconds>,v1=<hex>`, with a v1 for each secret of the sender: secrets can be replaced without a moment in which
//     receivers refuse everything.
// W2. A receiver compares in constant time, and refuses what was signed too long ago or in the future.
import { describeValue, InvalidArgumentError, systemClock } from '../../../lib/index.ts';

const hmac = { name: 'HMAC', hash: 'SHA-256' };
const encoder = new TextEncoder();
const leastBytes = 32;

type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** Checks one or more secrets. Throws an `InvalidArgumentError` that does not show them. */
export function parseSecrets(secret: unknown, maker: string): readonly string[] {
  const secrets: readonly unknown[] = Array.isArray(secret) ? secret : [secret];
  const isGood = (each: unknown): each is string => typeof each === 'string' && encoder.encode(each).byteLength >= leastBytes;
  if (secrets.length > 0 && secrets.every(isGood)) return secrets;
  const seen = secrets.every((each) => typeof each === 'string')
    ? 'a shorter one'
    : describeValue(secrets.find((each) => typeof each !== 'string'));
  throw new InvalidArgumentError(
    `${maker} needs a secret of at least ${leastBytes} bytes, not ${seen}. Use a random text that only the two sides know.`,
  );
}

const importKey = (secret: string, use: 'sign' | 'verify'): Promise<Key> =>
  crypto.subtle.importKey('raw', encoder.encode(secret), hmac, false, [use]);

const toHex = (bytes: Uint8Array): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
const fromHex = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

function toSigned(seconds: string, body: string | Uint8Array): Uint8Array<ArrayBuffer> {
  const [start, bytes] = [encoder.encode(`${seconds}.`), typeof body === 'string' ? encoder.encode(body) : body];
  const all = new Uint8Array(start.length + bytes.length);
  all.set(start);
  all.set(bytes, start.length);
  return all;
}

/** Signs a body. */
export async function signWebhook(
  body: string,
  { secrets, at }: { readonly secrets: readonly string[]; readonly at: number },
): Promise<string> {
  const seconds = String(Math.floor(at / 1000));
  const signatures = await Promise.all(
    secrets.map(async (secret) => {
      const signed = await crypto.subtle.sign(hmac.name, await importKey(secret, 'sign'), toSigned(seconds, body));
      return `v1=${toHex(new Uint8Array(signed))}`;
    }),
  );
  return [`t=${seconds}`, ...signatures].join();
}

/** A request to check. */
export interface WebhookCheck {
  /** Body as it was received, before it is parsed. */
  readonly body: string | Uint8Array;
  /** The header `stepline-signature`. */
  readonly signature: string | null | undefined;
  /** The secret of the sender; several while one is being replaced. */
  readonly secret: string | readonly string[];
  /** Longest time between signing and checking. @default 300000 */
  readonly toleranceMs?: number;
  /** Time of the check, in milliseconds since the epoch. @default now */
  readonly now?: number;
}

const longestHeader = 2000;

/** Returns true if a request was signed with the secret, and not too long ago. Use it before you read the body. */
export async function verifyWebhook({
  body,
  signature,
  secret,
  toleranceMs = 300_000,
  now = systemClock.now(),
}: WebhookCheck): Promise<boolean> {
  const secrets = parseSecrets(secret, 'verifyWebhook()');
  if (typeof signature !== 'string' || signature.length > longestHeader) return false;
  const parts = signature.split(',').map((part) => part.trim());
  const seconds = parts.find((part) => /^t=\d{1,12}$/.test(part))?.slice(2);
  const given = parts.filter((part) => /^v1=[0-9a-f]{64}$/.test(part)).map((part) => fromHex(part.slice(3)));
  // A limit or a time that is not a number accepts nothing.
  if (seconds === undefined || !(Math.abs(now - Number(seconds) * 1000) <= toleranceMs + 1000)) return false;
  const signed = toSigned(seconds, body);
  let isValid = false;
  for (const each of secrets) {
    const key = await importKey(each, 'verify');
    for (const bytes of given) isValid = (await crypto.subtle.verify(hmac.name, key, bytes, signed)) || isValid;
  }
  return isValid;
}
