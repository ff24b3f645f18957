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

/** An error as clients see it. */
export interface ShownError {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Returns what a client sees of an error, without its secrets. */
export function describeError(redactor: Redactor, error: unknown): ShownError {
  const found = readCode(error);
  // A deleted session is told apart from an unknown one by nobody: its tenant is not known any more.
  const code = found === 'session-deleted' ? 'unknown-session' : found;
  const { status, sentence } = getErrorStatus(code);
  return {
    status,
    code,
    message: redactor.text(sentence ?? String(readField(error, 'message'))),
    headers: {
      ...(error instanceof MethodNotAllowedError && { allow: error.allowed.join(', ') }),
      ...(status === 503 && { 'retry-after': '1' }),
    },
  };
}

/** Returns the response for an error. */
export function toErrorResponse(redactor: Redactor, error: unknown): Response {
  const { status, code, message, headers: more } = describeError(redactor, error);
  const isStored = readField(error, 'isStored');
  const body = omitUndefined({ code, message, is_stored: typeof isStored === 'boolean' ? isStored : undefined });
  const response = toResponse(redactor, status, { error: body });
  for (const [name, value] of Object.entries(more)) response.headers.set(name, value);
  return response;
}

/** True if the host should hear of an error: nobody who made the request can do anything about it. */
export const isServerError = (error: unknown): boolean => getErrorStatus(readCode(error)).status >= 500;
