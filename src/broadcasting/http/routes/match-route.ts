import { MethodNotAllowedError } from '../errors/method-not-allowed-error.ts';
import { NotFoundError } from '../errors/not-found-error.ts';
import type { Route } from './route.ts';

/** A route, and the parts of the path that it names. */
export interface MatchedRoute {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

function matchPath(pattern: string, parts: readonly (string | undefined)[]): Readonly<Record<string, string>> | undefined {
  const wanted = pattern.split('/').slice(1);
  if (wanted.length !== parts.length) return undefined;
  const params: [string, string][] = [];
  for (const [index, name] of wanted.entries()) {
    const part = parts[index];
    if (part === undefined || part === '') return undefined;
    if (name.startsWith(':')) params.push([name.slice(1), part]);
    else if (name !== part) return undefined;
  }
  return Object.fromEntries(params);
}

/** Finds the route of a request. Throws if there is none. */
export function matchRoute(routes: readonly Route[], { method, path }: { readonly method: string; readonly path: string }): MatchedRoute {
  const parts = path.replace(/\/$/, '').split('/').slice(1).map(decode);
  const found = routes.flatMap((route) => {
    const params = matchPath(route.path, parts);
    return params === undefined ? [] : [{ route, params }];
  });
  if (found.length === 0) throw new NotFoundError('such address');
  const matched = found.find(({ route }) => route.method === method);
  if (matched !== undefined) return matched;
  throw new MethodNotAllowedError(
    method,
    found.map(({ route }) => route.method),
  );
}
