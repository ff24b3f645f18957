// One request to a server of the protocol.
// R1. It never rejects: what happened is a value.
import type { Clock } from '../../lib/index.ts';
import { cutLine, toLine } from '../../lib/index.ts';
import { PublishFailedError } from './publish-failed-error.ts';
import type { PusherApp } from './pusher-app.ts';
import { toSignedPath } from './pusher-app.ts';
import type { QueuedEvent } from './publish-queue.ts';

/** `refused`: the server will never take these events. `failed`: it may take them later. */
export type PostOutcome =
  | { readonly type: 'published' }
  | { readonly type: 'refused'; readonly error: PublishFailedError }
  | { readonly type: 'failed'; readonly error: PublishFailedError; readonly retryAfterMs?: number };

export interface PostOptions {
  readonly app: PusherApp;
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
}

/** Statuses that mean the events themselves: a request with fewer or smaller ones may be taken. */
const refusals = [400, 413, 422];
/** Bytes of the headers that fetch sends, with room for those of a proxy. */
const headerBytes = 600;
/** Bytes of the signed query beside the key. */
const queryBytes = 190;
const bodyBytes = '{"batch":[]}'.length;

const toPath = ({ url, appId }: PusherApp): string => `${new URL(url).pathname.replace(/\/$/, '')}/apps/${appId}/batch_events`;

/** Bytes that events may take in a request of this size. */
export const getRoom = (app: PusherApp, maxRequestBytes: number): number =>
  maxRequestBytes - headerBytes - queryBytes - bodyBytes - toPath(app).length - app.key.length - new URL(app.url).host.length;

async function readReason(response: Response): Promise<string> {
  const text = await response.text().catch(() => '');
  return text.trim() === '' ? '.' : `: ${cutLine(toLine(text))}`;
}

function readRetryAfter(response: Response): number | undefined {
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return seconds > 0 ? Math.min(seconds, 60) * 1000 : undefined;
}

const describe = (error: unknown): string => {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error && cause.message !== '') return cause.message;
  return error instanceof Error ? error.message : String(error);
};

/** Creates the function that posts a batch of events. */
export function createPost({
  app,
  clock,
  timeoutMs,
  fetch,
}: PostOptions): (events: readonly QueuedEvent[], signal: AbortSignal) => Promise<PostOutcome> {
  const { origin } = new URL(app.url);

  async function request(body: string, signal: AbortSignal): Promise<PostOutcome> {
    const path = toSignedPath({ ...app, path: toPath(app), body, at: clock.now() });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${origin}${path}`, { method: 'POST', body, headers, signal, redirect: 'manual' });
    const reason = await readReason(response);
    if (response.ok) return { type: 'published' };
    const { status } = response;
    const error = new PublishFailedError(`${origin} answered with status ${status}${reason}`, status);
    if (refusals.includes(status)) return { type: 'refused', error };
    const retryAfterMs = readRetryAfter(response);
    return { type: 'failed', error, ...(retryAfterMs !== undefined && { retryAfterMs }) };
  }

  return async (events, signal) => {
    const attempt = new AbortController();
    const abort = (): void => attempt.abort(new Error(`No answer within ${timeoutMs} ms.`));
    const cancelTimer = clock.schedule(timeoutMs, abort, true);
    signal.addEventListener('abort', abort, { once: true });
    try {
      return await request(`{"batch":[${events.map(({ text }) => text).join(',')}]}`, attempt.signal);
    } catch (error) {
      return { type: 'failed', error: new PublishFailedError(`${origin} could not be reached: ${describe(error)}`, 0, error) };
    } finally {
      cancelTimer();
      signal.removeEventListener('abort', abort);
    }
  };
}
