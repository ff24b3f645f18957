// Requests to the ingress of a Restate server.
import { describeValue, InvalidArgumentError, isRecord, sleep, SteplineError, systemClock } from '../../lib/index.ts';
import { IngressError } from './ingress-error.ts';

/** Address of a handler. */
export interface HandlerAddress {
  readonly service: string;
  /** Key of the object; absent for services without one. */
  readonly key?: string;
  readonly handler: string;
  /** True if the caller does not wait for the response. The server has the call when it answers. */
  readonly isOneWay?: boolean;
}

export interface IngressOptions {
  readonly url: string;
  /** Headers to send with every request, such as those that a proxy requires. */
  readonly headers?: Readonly<Record<string, string>>;
  /** @default the global one */
  readonly fetch?: typeof fetch;
}

/** Calls handlers and waits for their responses. */
export interface Ingress {
  /** Calls a handler. `signal` ends the wait; the call itself continues. */
  readonly call: <Answer>(address: HandlerAddress, body: unknown, signal?: AbortSignal) => Promise<Answer>;
}

const retryMs = 200;

const toPath = ({ service, key, handler, isOneWay = false }: HandlerAddress): string =>
  [service, ...(key === undefined ? [] : [key]), handler, ...(isOneWay ? ['send'] : [])].map(encodeURIComponent).join('/');

async function readProblem(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const data: unknown = JSON.parse(text);
    return isRecord(data) && typeof data['message'] === 'string' ? data['message'] : text;
  } catch {
    return text;
  }
}

/** Says why nothing came back: the first cause of a failed fetch has the reason, and the others do not. */
function describeFailure(error: unknown): string {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  if (cause === undefined) return String(error);
  const code: unknown = Reflect.get(Object(cause), 'code');
  return typeof code === 'string' ? `${String(error)} (${code})` : describeFailure(cause);
}

/** Returns the address, with a slash at its end. */
function checkUrl(url: string): string {
  const isHttp = URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
  if (!isHttp)
    throw new InvalidArgumentError(
      `ingress.url must be the address of the ingress of a Restate server, such as http://127.0.0.1:8080, not ${describeValue(url)}.`,
    );
  return url.endsWith('/') ? url : `${url}/`;
}

/**
 * Opens an ingress. While the server cannot be reached, a call is retried until the caller stops waiting, at most for `patienceMs`. Every
 * handler that is called this way must tolerate being called twice.
 */
export function openIngress({ url, headers = {}, fetch: send = fetch }: IngressOptions, patienceMs = 30_000): Ingress {
  const base = checkUrl(url);
  const ask = async (address: HandlerAddress, body: unknown, signal?: AbortSignal): Promise<unknown> => {
    const response = await send(new URL(toPath(address), base), {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal !== undefined && { signal }),
    });
    if (!response.ok)
      throw new IngressError(`${base}${toPath(address)}`, { status: response.status, problem: await readProblem(response) });
    const text = await response.text();
    return text === '' ? undefined : JSON.parse(text);
  };
  return {
    call: async <Answer>(address: HandlerAddress, body: unknown, signal?: AbortSignal): Promise<Answer> => {
      const until = systemClock.monotonic() + patienceMs;
      for (;;) {
        try {
          // Holds: both sides of every message are ours.
          return (await ask(address, body, signal)) as Answer;
        } catch (error) {
          if (signal?.aborted === true) throw error;
          const isRetryable = !SteplineError.is(error) || (error instanceof IngressError && error.isRetryable);
          if (!isRetryable || systemClock.monotonic() > until)
            throw SteplineError.is(error)
              ? error
              : new IngressError(`${base}${toPath(address)}`, { problem: describeFailure(error) }, error);
          await sleep(systemClock, retryMs, signal).catch(() => undefined);
        }
      }
    },
  };
}
