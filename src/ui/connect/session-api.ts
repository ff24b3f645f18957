// Requests of a page to the server of a session.
// Q1. A token is asked for at each request, and never kept.
import type { Envelope } from '../../broadcasting/index.ts';
import type { JsonObject } from '../../lib/index.ts';
import { isList, isRecord, parseJsonText, readField } from '../../lib/index.ts';
import { RequestFailedError } from './request-failed-error.ts';

/** Returns the token of the person in front of the page; undefined if cookies say who it is. */
export type GetToken = () => string | undefined | Promise<string | undefined>;

export interface SessionApiOptions {
  /** Address of the handler, without a slash at its end: `https://app.example/agents`. */
  readonly url: string;
  readonly sessionId: string;
  readonly getToken?: GetToken | undefined;
  readonly fetch: typeof globalThis.fetch;
}

/** A page of stored envelopes. */
export interface EventPage {
  readonly envelopes: readonly Envelope[];
  /** Number from which the page is whole. */
  readonly from: number;
}

/** Number of events that a view opens with. */
const newestCount = 300;

async function toError(response: Response): Promise<RequestFailedError> {
  const body = readField(parseJsonText(await response.text().catch(() => '')), 'error');
  const error = isRecord(body) ? body : {};
  const { status } = response;
  const message = typeof error['message'] === 'string' ? error['message'] : `The server answered with status ${status}.`;
  return new RequestFailedError(message, { status, serverCode: typeof error['code'] === 'string' ? error['code'] : '' });
}

/** True if asking again later may help. */
export const isTemporary = (error: unknown): boolean =>
  !(error instanceof RequestFailedError) || error.status === 0 || error.status >= 500 || [401, 408, 425, 429].includes(error.status);

/** Requests about one session. */
export class SessionApi {
  readonly #options: SessionApiOptions;

  constructor(options: SessionApiOptions) {
    this.#options = options;
  }

  /** Follows the events after a number; of those that are stored, the newest only. */
  async follow(after: number, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const path = `/events?after=${after}&last=${newestCount}`;
    const response = await this.#request(path, { headers: { accept: 'text/event-stream' }, signal });
    if (response.body === null) throw new RequestFailedError('The server sent no stream.', { status: 0, serverCode: '' });
    return response.body;
  }

  /** Reads the newest of the stored events after a number. */
  readNewest(after: number, signal: AbortSignal): Promise<EventPage> {
    return this.#readPage(`after=${after}&last=${newestCount}`, { from: after + 1, signal });
  }

  /** Reads stored events that end before a number. */
  readBefore(before: number, { count, signal }: { readonly count: number; readonly signal: AbortSignal }): Promise<EventPage> {
    return this.#readPage(`before=${before}&last=${count}`, { from: before - count, signal });
  }

  /** Reads the data of an envelope that was cut. */
  async readPayload(seq: number, part: number, signal: AbortSignal): Promise<JsonObject> {
    const { data } = await this.#readJson(`/payloads/${seq}/${part}`, { signal });
    return isRecord(data) ? data : {};
  }

  get(path: string): Promise<JsonObject> {
    return this.#readJson(path, {});
  }

  post(path: string, body: object): Promise<JsonObject> {
    return this.#readJson(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  }

  async #readPage(query: string, { from, signal }: { readonly from: number; readonly signal: AbortSignal }): Promise<EventPage> {
    const { envelopes, from: first } = await this.#readJson(`/events?${query}`, { signal });
    // Holds: a server of this package sends envelopes, and a view reads their fields with care.
    const found = isList(envelopes) ? (envelopes as unknown as readonly Envelope[]) : [];
    return { envelopes: found, from: typeof first === 'number' ? first : from };
  }

  async #readJson(path: string, init: RequestInit): Promise<JsonObject> {
    const response = await this.#request(path, { ...init, headers: { ...init.headers, accept: 'application/json' } });
    const value: unknown = await response.json();
    // Holds: a record inside JSON is a JSON object.
    return isRecord(value) ? (value as JsonObject) : {};
  }

  async #request(path: string, init: RequestInit): Promise<Response> {
    const { url, sessionId, getToken, fetch } = this.#options;
    const token = await getToken?.();
    const headers = { ...init.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
    const address = `${url}/sessions/${encodeURIComponent(sessionId)}${path}`;
    let response: Response;
    try {
      response = await fetch(address, { ...init, headers, cache: 'no-store' });
    } catch (cause) {
      if (init.signal?.aborted === true) throw cause;
      throw new RequestFailedError(`The server at ${url} could not be reached.`, { status: 0, serverCode: '', cause });
    }
    if (!response.ok) throw await toError(response);
    return response;
  }
}
