// Signatures of requests and subscriptions.
// S1. They are compared in constant time, and a request also by its time: an old one cannot be sent again later.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { PusherServerApp } from './apps.ts';

/** Longest time between signing and checking. */
const toleranceMs = 600_000;

const sign = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex');

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** A request to the HTTP API. */
export interface SignedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Uint8Array;
}

/** Returns what is wrong with the signature of a request; undefined if nothing is. */
export function findSignatureProblem(app: PusherServerApp, { method, path, query, body }: SignedRequest, now: number): string | undefined {
  const read = (name: string): string => query.get(name) ?? '';
  if (read('auth_key') !== app.key) return 'Unknown auth_key.';
  if (read('auth_version') !== '1.0') return 'auth_version must be 1.0.';
  if (!(Math.abs(now - Number(read('auth_timestamp')) * 1000) <= toleranceMs)) return 'Timestamp expired.';
  const hash = createHash('md5').update(body).digest('hex');
  if (body.length > 0 && read('body_md5') !== hash) return 'body_md5 does not match the body.';
  const signed = [...query].filter(([name]) => name !== 'auth_signature').map(([name, value]) => [name.toLowerCase(), value] as const);
  const sorted = signed.sort(([one], [other]) => (one < other ? -1 : 1)).map(([name, value]) => `${name}=${value}`);
  const expected = sign(app.secret, [method, path, sorted.join('&')].join('\n'));
  return isSame(read('auth_signature'), expected) ? undefined : 'Authentication signature invalid.';
}

/** A subscription to a private or a presence channel. */
export interface SignedSubscription {
  readonly socketId: string;
  readonly channel: string;
  readonly auth: string;
  /** Member who joins a presence channel, as JSON. */
  readonly channelData?: string | undefined;
}

/** True if the app has signed that this connection may listen. */
export function isAuthorized(app: PusherServerApp, { socketId, channel, auth, channelData }: SignedSubscription): boolean {
  const signed = [socketId, channel, ...(channelData === undefined ? [] : [channelData])].join(':');
  return isSame(auth, `${app.key}:${sign(app.secret, signed)}`);
}
