// Responses with JSON.
// R1. Secrets are removed from every response, errors included. The two exceptions say so: the whole of a wait, and a token.
// R2. An error never shows a stack, a cause, or the message of a foreign error.
import type { Json, Redactor } from '../../lib/index.ts';
import { omitUndefined, readField, SteplineError } from '../../lib/index.ts';
import { MethodNotAllowedError } from './errors/method-not-allowed-error.ts';
import { getErrorStatus } from './statuses.ts';

const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Returns a response with a value as it is. */
export const toWholeResponse = (status: number, value: Json): Response => new Response(JSON.stringify(value), { status, headers });

/** Returns a response with a value without its secrets. */
export const toResponse = (redactor: Redactor, status: number, value: Json): Response => toWholeResponse(status, redactor.value(value));

const readCode = (error: unknown): string => {
  const code = readField(error, 'code');
  return SteplineError.is(error) && typeof code === 'string' ? code : 'unclassified';
};

/** Returns the response for an error. */
export function toErrorResponse(redactor: Redactor, error: unknown): Response {
  const found = readCode(error);
  // A deleted session is told apart from an unknown one by nobody: its tenant is not known any more.
  const code = found === 'session-deleted' ? 'unknown-session' : found;
  const { status, sentence } = getErrorStatus(code);
  const message = sentence ?? String(readField(error, 'message'));
  const isStored = readField(error, 'isStored');
  const body = omitUndefined({ code, message, is_stored: typeof isStored === 'boolean' ? isStored : undefined });
  const response = toResponse(redactor, status, { error: body });
  if (error instanceof MethodNotAllowedError) response.headers.set('allow', error.allowed.join(', '));
  if (status === 503) response.headers.set('retry-after', '1');
  return response;
}

/** True if the host should hear of an error: nobody who made the request can do anything about it. */
export const isServerError = (error: unknown): boolean => getErrorStatus(readCode(error)).status >= 500;
