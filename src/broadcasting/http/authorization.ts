// Who it is, and what they may do.
// A1. Two questions, in this order: `authenticate` names the caller from the headers, before any body is read; `authorize` then decides about
//     exactly what will run. Anything but a clear yes is a refusal.
// A2. A session that a caller may not get does not exist for that caller: every route answers as for an unknown one.
import type { Json } from '../../lib/index.ts';
import { InvalidArgumentError, isRecord } from '../../lib/index.ts';
import type { ContentPart } from '../../messages/index.ts';
import type { ActionOptions, Actor, NewSession, SendOptions, SessionFacts, SessionWait } from '../../sessions/index.ts';
import { isTraceparent, UnknownSessionError } from '../../sessions/index.ts';
import type { Grant } from '../../step-by-step/index.ts';
import { NotAllowedError } from './errors/not-allowed-error.ts';
import { NotAuthenticatedError } from './errors/not-authenticated-error.ts';

/** Something that a request asks for. */
export const HttpAction = {
  Create: 'create',
  List: 'list',
  Get: 'get',
  Facts: 'facts',
  Send: 'send',
  Cancel: 'cancel',
  Resume: 'resume',
  /** Read what a session waits for, arguments included as they are. */
  Wait: 'wait',
  Approve: 'approve',
  Reject: 'reject',
  Answer: 'answer',
  Grant: 'grant',
  /** Revoke an approval that was given for the rest of a session. */
  Revoke: 'revoke',
  Fork: 'fork',
  /** List what all sessions wait for. */
  Waits: 'waits',
  /** Follow events, ask for a token that does, or fetch what was cut from them. */
  Events: 'events',
  Health: 'health',
} as const;
export type HttpAction = (typeof HttpAction)[keyof typeof HttpAction];

/** A wait, and who asked for it. If somebody is about to approve it, its `args` are those that will run. */
export type RequestedWait = SessionWait & {
  /** Author of the message that led to it. */
  readonly requestedBy?: Actor;
  /** Arguments that the agent asked for. Present only if the caller has changed them: `args` are the changed ones. */
  readonly requestedArgs?: Json;
};

/** Everything that an action will do. Fields that it does not have are absent. */
export interface ActionInput {
  /** `send`: content of the message. */
  readonly content?: string | readonly ContentPart[];
  /** `send`: what happens if the session is running. */
  readonly whileRunning?: SendOptions['whileRunning'];
  /** `send`: what happens if the session waits. */
  readonly whileWaiting?: SendOptions['whileWaiting'];
  /** `approve`: present if the approval is for the rest of the session. The arguments are those of `wait`. */
  readonly scope?: 'session';
  /** `reject` and `cancel`. */
  readonly reason?: string;
  /** `answer`. */
  readonly value?: Json;
  /** `grant`. */
  readonly amounts?: Grant;
  /** `revoke`: id of the approval. */
  readonly approvalId?: string;
  /** `create` and `fork`: what `newSession` has returned. */
  readonly newSession?: NewSession;
  /** `fork`: the place in the session that is forked. */
  readonly at?: { readonly execution: number; readonly step: number };
}

/** Question that `authorize` decides. */
export interface AuthorizationRequest {
  /** The caller that `authenticate` has named. */
  readonly by: Actor;
  /** The request. Its body may have been read. */
  readonly request: Request;
  readonly action: HttpAction;
  /** The session with its tenant and owner. Absent for `create`, `list`, `waits` and `health`. */
  readonly session?: SessionFacts;
  /** The wait that is answered, with the tool, the whole arguments that will run, and who asked for it. For `wait`, `approve`, `reject`, `answer` and `grant`. */
  readonly wait?: RequestedWait;
  /** Exactly what will be done. Empty for actions that only read. */
  readonly input: ActionInput;
}

/** A refusal. */
export interface Refusal {
  /** `unauthenticated`: nobody has logged in (401). `forbidden`: this caller may not (403, or 404 if it may not see the session). */
  readonly refused: 'unauthenticated' | 'forbidden';
  /** Sentence for the client. */
  readonly reason?: string;
}

/** The caller, or a refusal. Nothing is a refusal too (401). */
export type Authentication = Actor | Refusal | undefined;

export type Authenticate = (request: Request) => Authentication | Promise<Authentication>;

/** Sessions that `list` and `waits` look through. */
export interface AuthorizationScope {
  readonly tenant?: string;
  readonly owner?: string;
}

/**
 * `true`, or a refusal. `false` and nothing are refusals too.
 * With a `scope`, it is allowed, and `list` and `waits` look through these sessions only. Each one that is found is still checked with the action `get`.
 */
export type Authorization = boolean | { readonly scope: AuthorizationScope } | Refusal | undefined;

export type Authorize = (question: AuthorizationRequest) => Authorization | Promise<Authorization>;

/** The two functions of the host. */
export interface GateOptions {
  /** Returns the caller of a request from its headers, or a refusal. Asked first, before any body is read. */
  readonly authenticate: Authenticate;
  /** Decides whether a caller may do something. Asked with exactly what will be done. */
  readonly authorize: Authorize;
}

/** A request, and who made it. */
export interface Caller {
  readonly request: Request;
  readonly by: Actor;
}

/** Returns where the actions of a request come from. A `traceparent` that is not one is ignored, as Trace Context wants it. */
export function toOrigin({ request, by }: Caller): Pick<ActionOptions, 'by' | 'traceparent'> {
  const traceparent = request.headers.get('traceparent');
  return { by, ...(isTraceparent(traceparent) && { traceparent }) };
}

/** An action that a caller asks for. */
export type AuthorizedAction = Pick<AuthorizationRequest, 'action' | 'session' | 'wait'> & { readonly input?: ActionInput };

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isRefusal = (answer: unknown): answer is Refusal => isRecord(answer) && answer['refused'] !== undefined;

/** Returns the scope of a permission; undefined if it is a refusal. */
function readPermission(answer: Authorization): { readonly scope: AuthorizationScope } | undefined {
  if (answer === true) return { scope: {} };
  const given: unknown = answer;
  if (given === false || given === undefined || given === null || isRefusal(given)) return undefined;
  if (isRecord(given) && isRecord(given['scope']) && Object.keys(given).length === 1) return { scope: given['scope'] };
  // Not the client's fault, so not an error that it reads.
  throw new TypeError('authorize() must return true, false, { scope } or { refused }. The author comes from authenticate().');
}

/** Returns a wait as it will be answered. Throws if nobody can say how far an approval for the rest of the session would go. */
export function toAnsweredWait(wait: RequestedWait, { args, scope }: { readonly args?: Json; readonly scope?: 'session' }): RequestedWait {
  if (scope !== undefined && wait.type === 'approval' && wait.approvalScope === undefined)
    throw new InvalidArgumentError(
      `"${wait.toolName}" cannot be approved for the rest of the session: its tool has no approvalScope, or other calls of its step still run. Approve this call only, without scope, or wait until they have ended.`,
    );
  return args === undefined || !('args' in wait) ? wait : { ...wait, args, requestedArgs: wait.args };
}

/** Asks the host. */
export class Gate {
  readonly #authenticate: Authenticate;
  readonly #authorize: Authorize;

  /** `maker` is the function that was given the options. */
  constructor({ authenticate, authorize }: GateOptions, maker: string) {
    if (typeof authenticate !== 'function')
      throw new InvalidArgumentError(
        `${maker} needs authenticate: a function that returns the caller of a request, { id, kind }, or a refusal.`,
      );
    if (typeof authorize !== 'function')
      throw new InvalidArgumentError(`${maker} needs authorize: a function that returns true if a caller may do something, or a refusal.`);
    this.#authenticate = authenticate;
    this.#authorize = authorize;
  }

  /** Returns who made a request. Throws if the host does not know. */
  async authenticate(request: Request): Promise<Caller> {
    const found: unknown = await this.#authenticate(request);
    if (found === undefined || found === null) throw new NotAuthenticatedError();
    if (isRefusal(found))
      throw found.refused === 'forbidden' ? new NotAllowedError('any', found.reason) : new NotAuthenticatedError(found.reason);
    if (isRecord(found) && isText(found['id']) && isText(found['kind'])) return { request, by: { id: found['id'], kind: found['kind'] } };
    throw new TypeError('authenticate() returned a caller without id or kind. Return { id, kind } or a refusal.');
  }

  async #ask({ request, by }: Caller, wanted: AuthorizedAction): Promise<Authorization> {
    return this.#authorize({ input: {}, ...wanted, request, by });
  }

  /** Returns the sessions that a list looks through. Throws if the host refuses. */
  async check(caller: Caller, wanted: AuthorizedAction): Promise<{ readonly scope: AuthorizationScope }> {
    const answer = await this.#ask(caller, wanted);
    const permission = readPermission(answer);
    if (permission !== undefined) return permission;
    const refusal = isRefusal(answer) ? answer : undefined;
    if (refusal?.refused === 'unauthenticated') throw new NotAuthenticatedError(refusal.reason);
    const { action, session } = wanted;
    if (session !== undefined && !(await this.isVisible(caller, session))) throw new UnknownSessionError(session.id);
    throw new NotAllowedError(action, refusal?.reason);
  }

  /** True if the caller may get a session. */
  async isVisible(caller: Caller, session: SessionFacts): Promise<boolean> {
    return readPermission(await this.#ask(caller, { action: 'get', session })) !== undefined;
  }

  /** Throws for a session that the caller may not get: the same as for one that does not exist. */
  async assertVisible(caller: Caller, session: SessionFacts): Promise<void> {
    const answer = await this.#ask(caller, { action: 'get', session });
    if (readPermission(answer) !== undefined) return;
    if (isRefusal(answer) && answer.refused === 'unauthenticated') throw new NotAuthenticatedError(answer.reason);
    throw new UnknownSessionError(session.id);
  }
}
