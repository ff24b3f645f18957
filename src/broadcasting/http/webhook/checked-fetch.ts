// Requests that connect to public addresses only, on Node.
// Owns:     the check of what a name resolves to, at the moment of connecting.
// Does not: follow redirects, use a proxy, or read the body of an answer.
// A1. What was checked is what is connected to: the name is not resolved a second time.
import type Dns from 'node:dns';
import type Http from 'node:http';
import type { IncomingMessage } from 'node:http';
import type Https from 'node:https';
import type { LookupFunction } from 'node:net';

/** Sends a request. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A request as webhook() makes it. */
interface SentRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

interface NodeModules {
  readonly 'node:dns': typeof Dns;
  readonly 'node:http': typeof Http;
  readonly 'node:https': typeof Https;
}

type LoadModule = <Name extends keyof NodeModules>(name: Name) => NodeModules[Name];

/** Returns what loads the modules of Node; undefined on other platforms. Not an import: other platforms could not load this file. */
function findNode(): LoadModule | undefined {
  const found: unknown = Reflect.get(globalThis, 'process');
  if (typeof found !== 'object' || found === null || typeof Reflect.get(found, 'getBuiltinModule') !== 'function') return undefined;
  // Holds: only Node, and what imitates it, has this function, and the type lists modules of Node.
  return (found as { readonly getBuiltinModule: LoadModule }).getBuiltinModule;
}

/** Resolves a name as Node does, and fails if one of its addresses is not allowed. */
const createLookup =
  (dns: NodeModules['node:dns'], isAllowed: (address: string) => boolean): LookupFunction =>
  (name, options, callback) => {
    dns.lookup(name, { ...options, all: true }, (error, addresses) => {
      const [first] = error === null && addresses.every(({ address }) => isAllowed(address)) ? addresses : [];
      if (first === undefined) callback(error ?? new Error('its name leads to a private address'), '');
      // If Node asked for all of them, it tries one after the other.
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };

const mostIgnoredBytes = 65_536;

/** Reads an answer to its end, so that the connection can be used again, unless it is longer than anyone needs. Returns its status and when to try again. */
function readAnswer(answer: IncomingMessage, resolve: (response: Response) => void): void {
  const { statusCode = 0, headers } = answer;
  const retryAfter = headers['retry-after'];
  // Numbers that HTTP does not have, and that Response refuses, count as a failure of the receiver.
  const status = statusCode >= 200 && statusCode <= 599 ? statusCode : 502;
  const response = new Response(null, { status, ...(retryAfter !== undefined && { headers: { 'retry-after': retryAfter } }) });
  let bytes = 0;
  answer.on('data', (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes > mostIgnoredBytes) answer.destroy();
  });
  answer.on('error', () => undefined).on('close', () => resolve(response));
}

/** Creates a fetch that connects to a name only if all of its addresses are allowed; undefined if this is not Node. IP addresses in a URL are not checked. */
export function createCheckedFetch(isAllowed: (address: string) => boolean): Fetch | undefined {
  const load = findNode();
  if (load === undefined) return undefined;
  const [http, https] = [load('node:http'), load('node:https')];
  const options = { keepAlive: true, lookup: createLookup(load('node:dns'), isAllowed) };
  const agents = { http: new http.Agent(options), https: new https.Agent(options) };
  return (url, init) =>
    new Promise((resolve, reject) => {
      // Holds: webhook() makes no other requests.
      const { method = 'GET', headers = {}, body = '', signal } = init as SentRequest;
      const isSecure = new URL(url).protocol === 'https:';
      const sent = { method, headers, agent: isSecure ? agents.https : agents.http, ...(signal && { signal }) };
      const request = (isSecure ? https : http).request(url, sent);
      // If there is no answer, as when the receiver changes the protocol, the connection is closed without an error.
      const rejectClosed = (): void => reject(new Error('it closed the connection without an answer'));
      request
        .on('error', reject)
        .on('close', rejectClosed)
        .on('response', (answer: IncomingMessage) => {
          request.off('close', rejectClosed);
          readAnswer(answer, resolve);
        });
      request.end(body);
    });
}
