// Who may do what.
// A1. Nothing is read for a caller or done for one before `authorize` has named an author. Anything but an author is a refusal.
// A2. A session that a caller may not get does not exist for that caller: every route answers as for an unknown one.
import { InvalidArgumentError, isRecord } from '../../lib/index.ts';
import type { Actor, SessionFacts, SessionWait } from '../../sessions/index.ts';
import { UnknownSessionError } from '../../sessions/index.ts';
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

/** A wait, and the author of the message that led to it. */
export type RequestedWait = SessionWait & { readonly requestedBy?: Actor };

/** Question that `authorize` decides. */
export interface AuthorizationRequest {
  readonly request: Request;
  readonly action: HttpAction;
  /** The session with its tenant and owner. Absent for `create`, `list`, `waits` and `health`. */
  readonly session?: SessionFacts;
  /** The wait that is answered, with the tool, its whole arguments and who asked for it. For `wait`, `approve`, `reject`, `answer` and `grant`. */
  readonly wait?: RequestedWait;
}

/** The author of what is done, or a refusal. Nothing is a refusal too. */
export type Authorization =
  | {
      readonly by: Actor;
      /** Sessions that `list` and `waits` look through. Each one that is found is still checked with the action `get`. */
      readonly scope?: { readonly tenant?: string; readonly owner?: string };
    }
  | {
      /** `unauthenticated`: nobody has logged in (401). `forbidden`: this caller may not (403, or 404 if it may not see the session). */
      readonly refused: 'unauthenticated' | 'forbidden';
      /** Sentence for the client. */
      readonly reason?: string;
    }
  | undefined;

export type Authorize = (question: AuthorizationRequest) => Authorization | Promise<Authorization>;

type Allowed = Extract<Authorization, { readonly by: Actor }>;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

function isAllowed(answer: Authorization): answer is Allowed {
  const given: unknown = answer;
  if (!isRecord(given) || given['by'] === undefined) return false;
  const { by } = given;
  if (isRecord(by) && isText(by['id']) && isText(by['kind'])) return true;
  // Not the client's fault, so not an error that it reads.
  throw new TypeError('authorize() returned an author without id or kind. Return { by: { id, kind } } or a refusal.');
}

/** Asks the host. */
export class Gate {
  readonly #authorize: Authorize;

  /** `maker` is the function that was given `authorize`. */
  constructor(authorize: Authorize, maker: string) {
    if (typeof authorize !== 'function')
      throw new InvalidArgumentError(`${maker} needs authorize: a function that returns the author of a request or a refusal.`);
    this.#authorize = authorize;
  }

  /** Returns the author. Throws if the host refuses. */
  async check(question: AuthorizationRequest): Promise<Allowed> {
    const answer = await this.#authorize(question);
    if (isAllowed(answer)) return answer;
    if (answer?.refused === 'unauthenticated') throw new NotAuthenticatedError(answer.reason);
    const { action, session, request } = question;
    if (session !== undefined && !(await this.isVisible(request, session))) throw new UnknownSessionError(session.id);
    throw new NotAllowedError(action, answer?.reason);
  }

  /** Returns the author of a session that this request would create; undefined if it may not. */
  async findCreator(request: Request): Promise<Actor | undefined> {
    const answer = await this.#authorize({ request, action: 'create' });
    return isAllowed(answer) ? answer.by : undefined;
  }

  /** True if the caller may get a session. */
  async isVisible(request: Request, session: SessionFacts): Promise<boolean> {
    return isAllowed(await this.#authorize({ request, action: 'get', session }));
  }

  /** Throws for a session that does not exist: the same as for one that the caller may not see. */
  async refuseUnknown(request: Request, { action, id }: { readonly action: HttpAction; readonly id: string }): Promise<never> {
    const nothing: SessionFacts = { id, agent: { id: '', fingerprint: '' }, tags: [], createdAt: 0 };
    let answer: Authorization;
    try {
      answer = await this.#authorize({ request, action, session: nothing });
    } catch {
      // It was asked about a session without tenant and owner.
    }
    if (answer !== undefined && 'refused' in answer && answer.refused === 'unauthenticated') throw new NotAuthenticatedError(answer.reason);
    throw new UnknownSessionError(id);
  }
}
