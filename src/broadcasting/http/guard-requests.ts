// What every handler of HTTP requests does around its routes.
// H1. It never throws and never rejects: every request gets a response, and no request ends the process.
// H2. The origin is checked before anything else.
import type { ProblemReporter } from '../../events/index.ts';
import { addOriginHeaders, checkOrigin, toPreflightResponse } from './check-origin.ts';
import { isServerError } from './json-response.ts';

export interface RequestGuard {
  /** Origins whose pages may use the handler, beside those of its own host. */
  readonly origins: readonly string[];
  /** Methods of the routes. */
  readonly methods: readonly string[];
  readonly report: ProblemReporter;
  readonly toErrorResponse: (error: unknown) => Response;
}

/** Returns a handler that checks origins, and turns whatever is thrown into a response. */
export function guardRequests(
  { origins, methods, report, toErrorResponse }: RequestGuard,
  handle: (request: Request) => Promise<Response>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    let origin: string | undefined;
    try {
      origin = checkOrigin(request, origins);
      if (request.method === 'OPTIONS') return addOriginHeaders(toPreflightResponse(methods), origin);
      return addOriginHeaders(await handle(request), origin);
    } catch (error) {
      if (isServerError(error)) report(error, `${request.method} ${new URL(request.url).pathname}`);
      return addOriginHeaders(toErrorResponse(error), origin);
    }
  };
}
