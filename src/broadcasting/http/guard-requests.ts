// What every handler of HTTP requests does around its routes.
// H1. It never throws and never rejects: every request gets a response, and no request ends the process.
// H2. The origin is checked before anything else.
// H4. A request lives as long as the body of its response: its signal never aborts once it was collected as garbage, and a stream whose
//     reader has left would stay open.
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

/** Requests by the bodies of their responses. */
const openRequests = new WeakMap<ReadableStream, Request>();

function keepRequest(request: Request, response: Response): Response {
  if (response.body !== null) openRequests.set(response.body, request);
  return response;
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
      return keepRequest(request, addOriginHeaders(await handle(request), origin));
    } catch (error) {
      if (isServerError(error)) report(error, `${request.method} ${new URL(request.url).pathname}`);
      return addOriginHeaders(toErrorResponse(error), origin);
    }
  };
}
