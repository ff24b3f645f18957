// A route: a method, a path, the action that `authorize` is asked about, and what is done.
import type { Json, JsonObject } from '../../../lib/index.ts';
import { checkKeys, describeValue, InvalidArgumentError } from '../../../lib/index.ts';
import type { ActionOptions, Actor, Session, SessionResult } from '../../../sessions/index.ts';
import type { ActionInput, AuthorizationScope, HttpAction, RequestedWait } from '../authorization.ts';
import { toOrigin } from '../authorization.ts';
import type { HandlerServices } from '../handler-options.ts';
import { toResponse } from '../json-response.ts';
import { readBody } from '../read-body.ts';
import type { SessionViewOptions } from '../session-view.ts';
import { toResultView } from '../session-view.ts';

/** Fields of a body. */
export type Body = JsonObject;

/** A request of a known caller. */
export interface RouteCall {
  readonly services: HandlerServices;
  readonly request: Request;
  readonly url: URL;
  /** Parts of the path, by name. */
  readonly params: Readonly<Record<string, string>>;
  readonly by: Actor;
  readonly scope: AuthorizationScope;
}

/** A request about a session. */
export interface SessionCall extends RouteCall {
  readonly session: Session;
}

/** A request about something that a session waits for. */
export interface WaitCall extends SessionCall {
  readonly waitId: string;
  /** Undefined if it is not waited for: the caller may see the session, and nothing more was asked. */
  readonly wait: RequestedWait | undefined;
}

/** An action that was read, and is run once `authorize` has allowed it. */
export interface ActionPlan {
  readonly input: ActionInput;
  /** Arguments of an approval, if the caller has changed them. */
  readonly args?: Json;
  readonly run: () => Promise<Response>;
}

interface RouteBase<On extends string> {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly action: HttpAction;
  readonly on: On;
}

/** A route without a body runs as soon as its caller was authorized; one with a body reads it first, and says what it will do. */
type Work<Call> =
  | { readonly run: (call: Call) => Promise<Response> | Response; readonly takesToken?: boolean }
  | { readonly plan: (call: Call) => Promise<ActionPlan> };

export type ServerRoute = RouteBase<'server'> & Work<RouteCall>;

/** Loads the session that the path names. With `takesToken`, a channel token stands for the caller. */
export type SessionRoute = RouteBase<'session'> & Work<SessionCall>;

/** Loads the session that the path names, and what it waits for. */
export type WaitRoute = RouteBase<'wait'> & Work<WaitCall>;

export type Route = ServerRoute | SessionRoute | WaitRoute;

/** Sends JSON without its secrets. */
export const send = ({ services }: RouteCall, status: number, value: JsonObject): Response => toResponse(services.redactor, status, value);

/** Returns how sessions are shown to this caller. */
export const getView = ({ services: { slim, redactor } }: RouteCall): SessionViewOptions => ({
  slim,
  redactor,
  maxLength: slim.config.maxContentLength,
});

/** Reads the fields of a body. Throws for one that is not listed. */
export async function readFields({ request, services }: RouteCall, known: readonly string[]): Promise<Body> {
  const body = await readBody(request, services.maxBodyBytes);
  checkKeys('the body', body, known);
  return body;
}

/** Reads a text; undefined if there is none. */
export function readText(body: Body, key: string): string | undefined {
  const value = body[key];
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw new InvalidArgumentError(`${key} must be a non-empty string, not ${describeValue(value)}.`);
}

/** Fields of every action. */
export const actionFields: readonly string[] = ['request_id', 'until'];

/** Reads the options of an action. A client does not wait for the end of a run unless it says so. */
export function readActionOptions(call: RouteCall, body: Body): ActionOptions & { readonly until: 'rest' | 'accepted' } {
  const [requestId, until = 'accepted'] = [readText(body, 'request_id'), readText(body, 'until')];
  if (until !== 'accepted' && until !== 'rest')
    throw new InvalidArgumentError(`until must be "accepted" or "rest", not ${describeValue(until)}.`);
  return { ...toOrigin(call), until, ...(requestId !== undefined && { requestId }) };
}

/** Status of an action: 202 if its result is still to come. */
const getStatus = ({ until }: { readonly until: 'rest' | 'accepted' }): number => (until === 'rest' ? 200 : 202);

/** Returns the plan of an action whose result is shown. */
export const toPlan = (
  call: SessionCall,
  options: { readonly until: 'rest' | 'accepted' },
  { act, ...plan }: Omit<ActionPlan, 'run'> & { readonly act: () => Promise<SessionResult> },
): ActionPlan => ({ ...plan, run: async () => send(call, getStatus(options), toResultView(await act(), getView(call))) });
