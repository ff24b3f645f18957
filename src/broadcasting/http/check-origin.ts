// Which pages may use the handler.
// O1. A browser sends the origin of a page with every request that could change something. Pages of the server's own host, and of the
//     origins that are listed, are let through; requests without an origin do not come from a page.
import { OriginRefusedError } from './errors/origin-refused-error.ts';

function readHost(address: string): string | undefined {
  try {
    return new URL(address).host;
  } catch {
    return undefined;
  }
}

/** Returns the origin of another host that may use the handler; undefined if there is none. Throws if it may not. */
export function checkOrigin(request: Request, origins: readonly string[]): string | undefined {
  const origin = request.headers.get('origin');
  if (origin === null) {
    if (request.method !== 'GET' && request.headers.get('sec-fetch-site') === 'cross-site') throw new OriginRefusedError('another site');
    return undefined;
  }
  if (origins.includes(origin)) return origin;
  // The scheme does not count: a proxy that ends TLS passes https on as http. A server may know itself by another name in `url`, as Next.js
  // does; the header has the name that the browser used, and no page can change it.
  const own = [new URL(request.url).host, request.headers.get('host')];
  if (own.includes(readHost(origin) ?? '')) return undefined;
  throw new OriginRefusedError(readHost(origin) === undefined ? 'an unknown origin' : origin);
}

/** Headers that let a page of another origin read a response. */
export function addOriginHeaders(response: Response, origin: string | undefined): Response {
  response.headers.append('vary', 'origin');
  if (origin === undefined) return response;
  response.headers.set('access-control-allow-origin', origin);
  response.headers.set('access-control-allow-credentials', 'true');
  return response;
}

/** Answers a browser that asks whether a page of another origin may make a request. */
export const toPreflightResponse = (methods: readonly string[]): Response =>
  new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': methods.join(', '),
      'access-control-allow-headers': 'authorization, content-type, last-event-id',
      'access-control-max-age': '600',
    },
  });
