// Actions on sessions, from whatever process.
// Owns:     the way that an action takes: into the log at once, if nobody else owns the session and nothing is queued before it; otherwise
//           as mail to the worker that owns it, or will.
// Does not: know how an action changes a session: the live session does.
// Actions-1. Whoever acts gets the same result, or the same error, by either way.
// Actions-2. An action that was stored is applied, also if this process, or the owner, ends: it is never asked for again.
import type { JsonObject } from '../../lib/index.ts';
import { jsonEquals, omitUndefined, present, SteplineError } from '../../lib/index.ts';
import type { Action, ActionOptions, ActionOrigin, ActionRequest, ForkPoint } from '../core/action.ts';
import { readBody } from '../core/entries.ts';
import { findForks } from '../core/find-forks.ts';
import { LeaseLostError, RequestReusedError, RuntimeClosedError, SessionConflictError, SessionDeletedError } from '../core/errors.ts';
import type { Session, SessionFacts, SessionResult } from '../core/session.ts';
import type { NewSessionRequest } from './create-sessions.ts';
import { createForkLog, createNewLog } from './create-sessions.ts';
import { LiveSession } from './live-session.ts';
import type { MailClient } from './mail-client.ts';
import type { SessionHost } from './session-host.ts';
import type { NewLog } from './session-log.ts';
import { SessionLog } from './session-log.ts';

const toOrigin = ({ by, traceparent }: ActionOptions): ActionOrigin => omitUndefined({ by, traceparent });

const hasCode = (error: unknown, code: string): boolean => SteplineError.is(error) && error.code === code;

/** True if a session was created by the same author, with the same wishes. */
function isSameCreation({ facts, action }: NewLog, existing: SessionFacts, creation: Action): boolean {
  const toWishes = ({ agent, createdAt: _, ...rest }: SessionFacts): JsonObject => present({ ...rest, agent: agent.id });
  return jsonEquals({ ...creation.by }, { ...action.by }) && jsonEquals(toWishes(facts), toWishes(existing));
}

export class SessionActions {
  readonly #host: SessionHost;
  readonly #client: MailClient;

  constructor(host: SessionHost, client: MailClient) {
    this.#host = host;
    this.#client = client;
  }

  async create(session: NewSessionRequest, options: ActionOptions): Promise<Session> {
    this.#assertOpen();
    return this.#create(createNewLog(session, toOrigin(options), this.#host), options);
  }

  async fork(from: ForkPoint, session: Omit<NewSessionRequest, 'agent'>, options: ActionOptions): Promise<Session> {
    this.#assertOpen();
    return this.#create(await this.#toForkLog(from, session, toOrigin(options)), options);
  }

  /** Does something to a session, and returns the result. */
  async act(sessionId: string, request: ActionRequest, options: ActionOptions): Promise<SessionResult> {
    this.#assertOpen();
    if (this.#host.isClient) return this.#client.act(sessionId, request, options);
    await this.#host.whenJoined();
    // The request may have been made before: whoever repeats it waits for a run that nobody has resumed yet.
    let resumes = options.requestId !== undefined;
    for (;;) {
      let entry: number | undefined;
      try {
        const isDirect = await this.#host.sessions.use(sessionId, (session) => this.#canActHere(session, resumes));
        resumes = false;
        if (!isDirect) return await this.#client.act(sessionId, request, options);
        return await this.#host.sessions.use(sessionId, (session) => session.act(request, options, (accepted) => (entry = accepted)));
      } catch (error) {
        // Another worker has the session now, which has the action too.
        if (entry !== undefined && hasCode(error, 'lease-lost')) return this.#client.readResult(sessionId, entry, options);
        if (hasCode(error, 'mail-waiting')) return this.#client.act(sessionId, request, options);
        if (!this.#wasReleased(error)) throw error;
        // Nothing was stored: the session is read again, by a worker that the others know.
        if (hasCode(error, 'lease-lost')) await this.#host.worker.confirm();
      }
    }
  }

  /** Deletes a session, whoever owns it. */
  async delete(sessionId: string, { forks = false }: { readonly forks?: boolean }): Promise<void> {
    this.#assertOpen();
    const { store, clock, sessions } = this.#host;
    if (forks) for (const id of await findForks(store, sessionId)) await this.delete(id, { forks });
    const at = clock.now();
    const error = new SessionDeletedError(sessionId, at);
    await sessions.release(sessionId, error);
    await store.log.delete({ sessionId, at });
    // Somebody may have read it meanwhile.
    await sessions.release(sessionId, error);
    this.#host.openSteps.forget(sessionId);
    this.#host.watcher.announce(sessionId);
  }

  #assertOpen(): void {
    const { closing } = this.#host;
    if (closing.aborted) throw new RuntimeClosedError(String(closing.reason));
  }

  /** True if the log may be written from here: the session is owned by this worker, or by nobody, and no mail comes first. */
  async #canActHere(session: LiveSession, resumes: boolean): Promise<boolean> {
    const { id, log } = session;
    const { store, running } = this.#host;
    if (log.isOwned) return (await store.inbox.read({ sessionId: id, isWaiting: true, limit: 1 })).length === 0;
    if (log.worker === undefined) {
      // Another worker may have room.
      if (running.room === 0) return false;
      if (log.isOpen && resumes) await this.#host.claim(session);
      return true;
    }
    if ((await store.heads.read(id))?.worker !== undefined) return false;
    // It rests since it was read.
    const error = new LeaseLostError(id);
    session.release(error);
    throw error;
  }

  /** True if a session was released before the action was stored. */
  #wasReleased(error: unknown): boolean {
    if (this.#host.closing.aborted) return false;
    return hasCode(error, 'lease-lost') || (error instanceof RuntimeClosedError && !error.isStored);
  }

  async #toForkLog(from: ForkPoint, session: Omit<NewSessionRequest, 'agent'>, origin: ActionOrigin): Promise<NewLog> {
    const { store: reader, clock, ids, reads } = this.#host;
    const { facts, states } = await reads.read(from.sessionId);
    return createForkLog(from, { reader, facts, states }, { session, origin, clock, ids });
  }

  /** Creates a session. The same request creates none again, and returns the one that it created. */
  async #create(parts: NewLog, { requestId }: Pick<ActionOptions, 'requestId'>): Promise<Session> {
    const { id } = parts.facts;
    const { sessions, store, reads } = this.#host;
    try {
      const session = new LiveSession(await SessionLog.create(this.#host, parts, { requestId }), this.#host);
      sessions.add(session);
      return await session.view();
    } catch (error) {
      if (!(error instanceof SessionConflictError) || requestId === undefined) throw error;
      const entry = await store.log.findRequest(id, requestId);
      const creation = entry && readBody(entry.body).action;
      if (creation?.type !== 'create' && creation?.type !== 'fork') throw error;
      const { facts } = await reads.read(id);
      if (!isSameCreation(parts, facts, creation)) throw new RequestReusedError(requestId);
      return this.#client.view(id);
    }
  }
}
