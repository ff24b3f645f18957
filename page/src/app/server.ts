// Requests of the page that are not about one session.
import { config } from '../config.ts';

/** Asks for a token, if this page needs one. A token is never kept. */
export async function getToken(): Promise<string | undefined> {
  if (config.tokenUrl === undefined) return undefined;
  const response = await fetch(config.tokenUrl, { cache: 'no-store' });
  if (!response.ok) throw new Error(`You are not signed in: the token could not be fetched (status ${response.status}).`);
  return (await response.text()).trim();
}

/** Reads the sentence of a refusal. */
async function readProblem(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as { readonly error?: { readonly message?: string } };
    if (typeof body.error?.message === 'string') return body.error.message;
  } catch {
    // Not a server of ours, or a proxy before it.
  }
  return `The server answered with status ${response.status}.`;
}

async function request(address: string, init: RequestInit): Promise<unknown> {
  const token = await getToken();
  const headers = { accept: 'application/json', ...init.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  let response: Response;
  try {
    response = await fetch(address, { ...init, headers, cache: 'no-store' });
  } catch (cause) {
    if (init.signal?.aborted === true) throw cause;
    throw new Error('The server could not be reached.', { cause });
  }
  if (!response.ok) throw new Error(await readProblem(response));
  return response.json();
}

export const getJson = (address: string, signal?: AbortSignal): Promise<unknown> =>
  request(address, signal === undefined ? {} : { signal });

export const postJson = (address: string, body: object): Promise<unknown> =>
  request(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

/** Says what went wrong, for people. */
export const describeError = (error: unknown): string =>
  error instanceof Error && error.message !== '' ? error.message : 'Something went wrong.';
