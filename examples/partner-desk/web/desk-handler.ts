// Everything that the desk serves: the page, the sessions, the tour.
import { createSessionHandler } from 'stepline/http';
import { createPageHandler } from 'stepline/page';
import type { Actor, EmbeddedRuntime } from 'stepline/sessions';
import { deskId } from '../desk.ts';
import { examples } from '../sentences.ts';
import { refuseForeign } from './check-request.ts';
import type { Conductor } from './conductor.ts';

import { createTourHandler } from './tour-handler.ts';

export interface DeskHandlerOptions {
  readonly runtime: EmbeddedRuntime;
  readonly conductor: Conductor;
  /** Everybody who can reach the desk. */
  readonly by: Actor;
  readonly secret: string;
  readonly onProblem: (error: unknown) => void;
}

const isUnder = (path: string, base: string): boolean => path === base || path.startsWith(`${base}/`);

export function createDeskHandler(options: DeskHandlerOptions): (request: Request) => Promise<Response> {
  const { runtime, conductor, by, secret, onProblem } = options;
  const [api, tour] = ['/agents', '/tour'];
  const handlePage = createPageHandler({ title: 'Partner desk', api, tour, suggestions: examples });
  const handleTour = createTourHandler(conductor, { path: tour, onProblem });
  const handleSessions = createSessionHandler(runtime, {
    basePath: api,
    authenticate: () => by,
    authorize: () => true,
    newSession: () => ({ agent: deskId, owner: by.id }),
    // The page shows every evaluation of every step.
    broadcast: { includeContinuationTrace: true },
    secret,
    retryMs: 500,
    onProblem,
  });
  return async (request) => {
    const refusal = refuseForeign(request);
    if (refusal !== undefined) return refusal;
    const { pathname } = new URL(request.url);
    if (isUnder(pathname, tour)) return handleTour(request);
    if (!isUnder(pathname, api)) return handlePage(request);
    if (request.method !== 'GET') await conductor.untilMorning();
    return handleSessions(request);
  };
}
