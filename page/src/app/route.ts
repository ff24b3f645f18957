// Addresses of the page: `/`, `/inbox` and `/s/<session id>`, below the base path.

export type Route = { readonly type: 'home' } | { readonly type: 'inbox' } | { readonly type: 'session'; readonly sessionId: string };

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Reads the address of the page. */
export function parseRoute(pathname: string, basePath: string): Route {
  const path = pathname.startsWith(basePath) ? pathname.slice(basePath.length) : pathname;
  const [, first, second] = path.split('/');
  if (first === 'inbox') return { type: 'inbox' };
  if (first === 's' && second !== undefined && second !== '') return { type: 'session', sessionId: decode(second) };
  return { type: 'home' };
}

/** Returns the address of a route. */
export function toPath(route: Route, basePath: string): string {
  if (route.type === 'inbox') return `${basePath}/inbox`;
  return route.type === 'session' ? `${basePath}/s/${encodeURIComponent(route.sessionId)}` : `${basePath}/`;
}
