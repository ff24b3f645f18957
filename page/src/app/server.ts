// Requests of the page that are not about one session.
import { config } from '../config.ts';

/** Makes a request. What browsers say of one that fails is not for people. */
async function reach(address: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(address, init);
  } catch (cause) {
    if (init.signal?.aborted === true) throw cause;
    throw new Error('The server could not be reached.', { cause });
  }
}

/** Asks for a token, if this page needs one. A token is never kept. */
export async function getToken(): Promise<string | undefined> {
  if (config.tokenUrl === undefined) return undefined;
  const response = await reach(config.tokenUrl, { cache: 'no-store' });
  if (!response.ok) throw new Error(`The token could not be fetched (status ${response.status}). You may have to sign in again.`);
  return (await response.text()).trim();
}

/** Says that something else than a handler of sessions answers, as the page itself does for paths that it does not know. */
const describeStranger = (): string => `No session handler answers at ${config.api}. Check \`api\` of createPageHandler.`;

/** Reads an answer as JSON. */
async function parseAnswer(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (cause) {
    throw new Error(describeStranger(), { cause });
  }
}

/** Reads the sentence of a refusal. */
async function readProblem(response: Response): Promise<string> {
  try {
    const body = (await response.json()) as { readonly error?: { readonly message?: string } };
    if (typeof body.error?.message === 'string') return body.error.message;
  } catch {
    // Not a server of ours, or a proxy before it.
  }
  const isStranger = response.status === 404 || response.status === 405;
  return isStranger ? describeStranger() : `The server answered with status ${response.status}.`;
}

async function request(address: string, init: RequestInit): Promise<unknown> {
  const token = await getToken();
  const headers = { accept: 'application/json', ...init.headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  const response = await reach(address, { ...init, headers, cache: 'no-store' });
  if (!response.ok) throw new Error(await readProblem(response));
  return parseAnswer(response);
}

export const getJson = (address: string, signal?: AbortSignal): Promise<unknown> =>
  request(address, signal === undefined ? {} : { signal });

export const postJson = (address: string, body: object): Promise<unknown> =>
  request(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

/** Says what went wrong, for people. */
export const describeError = (error: unknown): string =>
  error instanceof Error && error.message !== '' ? error.message : 'Something went wrong.';
