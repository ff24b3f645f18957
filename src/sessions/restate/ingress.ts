// Requests to the ingress of a Restate server.
import { isRecord, SteplineError, systemClock } from '../../lib/index.ts';
import { IngressError } from './ingress-error.ts';

/** Address of a handler. */
export interface HandlerAddress {
  readonly service: string;
  /** Key of the object; absent for services without one. */
  readonly key?: string;
  readonly handler: string;
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

const toPath = ({ service, key, handler }: HandlerAddress): string =>
  [service, ...(key === undefined ? [] : [key]), handler].map(encodeURIComponent).join('/');

async function readProblem(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const data: unknown = JSON.parse(text);
    return isRecord(data) && typeof data['message'] === 'string' ? data['message'] : text;
  } catch {
    return text;
  }
}

const pause = (ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

/**
 * Opens an ingress. While the server cannot be reached, a call is retried until the caller stops waiting, at most for `patienceMs`. Every
 * handler that is called this way must tolerate being called twice.
 */
export function openIngress({ url, headers = {}, fetch: send = fetch }: IngressOptions, patienceMs = 30_000): Ingress {
  const base = url.endsWith('/') ? url : `${url}/`;
  const ask = async (address: HandlerAddress, body: unknown, signal?: AbortSignal): Promise<unknown> => {
    const response = await send(new URL(toPath(address), base), {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal !== undefined && { signal }),
    });
    if (!response.ok) throw new IngressError(toPath(address), { status: response.status, problem: await readProblem(response) });
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
          const isPassing = !SteplineError.is(error) || (error instanceof IngressError && error.isPassing);
          if (!isPassing || systemClock.monotonic() > until)
            throw SteplineError.is(error) ? error : new IngressError(toPath(address), { problem: String(error) }, error);
          await pause(retryMs, signal);
        }
      }
    },
  };
}
