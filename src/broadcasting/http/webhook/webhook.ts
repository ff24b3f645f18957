// Sending events to an HTTP address.
// Owns:     the request: its body, its headers, its signature, and which answers count as accepted.
// Does not: retry, keep a place, or decide what is sent when: deliver() does.
// K1. Only an answer with a status from 200 to 299 accepts. Redirects are not followed: the signature is for this address alone.
// K2. The request says the same at each attempt, apart from the time that it was signed at and the number of the attempt.
// K3. An error names only the origin of the address: with many services, whoever knows the path may send.
// K4. Unless the host allows more, requests go to public addresses only, whoever gave the url: addresses and well-known names are checked
//     when the webhook is made; on Node, what a name leads to is checked when a request connects.
import type { Clock } from '../../../lib/index.ts';
import { checkKeys, describeValue, InvalidArgumentError, isRecord, systemClock } from '../../../lib/index.ts';
import type { EventDelivery, SendEvents } from '../../../sessions/index.ts';
import type { BroadcastOptions } from '../../index.ts';
import { createEnvelopeMapper } from '../../index.ts';
import { WebhookFailedError } from '../errors/webhook-failed-error.ts';
import { createCheckedFetch } from './checked-fetch.ts';
import { isPublicAddress, mayBePublic } from './public-address.ts';
import { parseSecrets, signWebhook } from './webhook-signature.ts';

/** Options of webhook(). */
export interface WebhookOptions {
  /** Address that receives the events by POST. */
  readonly url: string | URL;
  /** Signs each request; at least 32 bytes. Several while one is being replaced: a signature for each is sent. */
  readonly secret: string | readonly string[];
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Contents of the default body. @default the preset `standard` */
  readonly envelopes?: BroadcastOptions;
  /** Returns the body as JSON data; undefined sends nothing. @default the events as envelopes */
  readonly toBody?: (delivery: EventDelivery) => unknown;
  /**
   * Lets requests go to private addresses (this machine, its network, link-local) and to any port. Only for a `url` that no tenant can set.
   * @default false: public addresses, on port 80, 443, or one from 1024 on
   */
  readonly allowAnyAddress?: boolean;
  /** Sends the requests. One of your own has to check what names lead to by itself. @default a fetch that checks it, on Node; else globalThis.fetch */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Clock of the signature. @default the machine's clock */
  readonly clock?: Clock;
}

function parseUrl(given: unknown): URL {
  const text = given instanceof URL ? given.href : given;
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new InvalidArgumentError(`webhook() needs an address that begins with http:// or https://, not ${describeValue(given)}.`);
  if (url.username !== '' || url.password !== '')
    throw new InvalidArgumentError('webhook(): the url must not have a user name or a password. Pass them in headers.');
  return url;
}

/** Describes why a tenant must not have this url; undefined if it may. */
function findAddressProblem(url: URL): string | undefined {
  const port = Number(url.port);
  if (!mayBePublic(url)) return 'leads to this machine or its own network';
  return port === 0 || port === 80 || port === 443 || port >= 1024 ? undefined : `has port ${port}, which belongs to another protocol`;
}

/** Returns the body that receivers get unless the host makes one; undefined if the preset leaves out all of the events. */
function createBodies(options: BroadcastOptions | undefined): (delivery: EventDelivery) => unknown {
  const mapper = createEnvelopeMapper(options);
  return ({ id, name, sessionId, tenant, owner, agent, events }) => {
    const envelopes = events.flatMap((event) => mapper.toEnvelopes(event, { sessionId }));
    if (envelopes.length === 0) return undefined;
    const found = { tenant: tenant ?? null, owner: owner ?? null };
    return { delivery_id: id, delivery: name, session_id: sessionId, ...found, agent: agent.id, envelopes };
  };
}

function readRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  const seconds = Number(value);
  const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(value) - now;
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

const describe = (error: unknown): string => {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error && cause.message !== '') return cause.message;
  return error instanceof Error ? error.message : String(error);
};

/** Creates a function for deliver() that sends events to an HTTP address, each request signed. */
export function webhook(options: WebhookOptions): SendEvents {
  const given: unknown = options;
  if (!isRecord(given)) throw new InvalidArgumentError(`webhook() needs { url, secret }, not ${describeValue(given)}.`);
  checkKeys('webhook()', given, ['url', 'secret', 'headers', 'envelopes', 'toBody', 'allowAnyAddress', 'fetch', 'clock']);
  const url = parseUrl(options.url);
  const { headers = {}, clock = systemClock, toBody = createBodies(options.envelopes), allowAnyAddress = false } = options;
  const problem = allowAnyAddress ? undefined : findAddressProblem(url);
  if (problem !== undefined)
    throw new InvalidArgumentError(`webhook(): ${url.origin} ${problem}. If no tenant can set the url, pass allowAnyAddress: true.`);
  const secrets = parseSecrets(options.secret, 'webhook()');
  const checkedFetch = allowAnyAddress || options.fetch !== undefined ? undefined : createCheckedFetch(isPublicAddress);
  const fetch = options.fetch ?? checkedFetch ?? globalThis.fetch;

  async function post(init: RequestInit): Promise<Response> {
    try {
      return await fetch(url.href, init);
    } catch (error) {
      throw new WebhookFailedError(url.origin, describe(error).replaceAll(url.href, url.origin), error);
    }
  }

  return async (delivery, { signal }) => {
    const data = toBody(delivery);
    if (data === undefined) return;
    const body = JSON.stringify(data);
    const response = await post({
      method: 'POST',
      body,
      signal,
      redirect: 'manual',
      headers: {
        ...headers,
        'content-type': 'application/json',
        'stepline-delivery': delivery.id,
        'stepline-attempt': String(delivery.attempt),
        'stepline-signature': await signWebhook(body, { secrets, at: clock.now() }),
      },
    });
    // Whatever it says is of no use; the connection is.
    await response.body?.cancel().catch(() => undefined);
    if (response.ok) return;
    const retryAfterMs = readRetryAfter(response.headers.get('retry-after'), clock.now());
    throw new WebhookFailedError(url.origin, { status: response.status, ...(retryAfterMs !== undefined && { retryAfterMs }) });
  };
}
