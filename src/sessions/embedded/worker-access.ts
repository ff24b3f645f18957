// Changes of sessions, in the process that runs them.
// Owns:     creating, forking, deleting and erasing; applying what other processes ask for.
// Does not: know how an action changes a session: the live session does.
// R1. A session that is deleted while it runs is released first; whatever of it still wants to be written is refused.
import type { JsonObject } from '../../lib/index.ts';
import { jsonEquals, present } from '../../lib/index.ts';
import type { Action, ActionOptions, ActionRequest, Actor, ForkPoint } from '../core/action.ts';
import { readBody, readEntriesFrom } from '../core/entries.ts';
import { assertErasable, eraseMessage, findErased } from '../core/erase-message.ts';
import { findForks } from '../core/find-forks.ts';
import { findRefusedSends } from '../core/mail.ts';
import { RequestReusedError } from '../core/request-reused-error.ts';
import { RuntimeClosedError } from '../core/runtime-closed-error.ts';
import type { Session, SessionFacts, SessionResult } from '../core/session.ts';
import { SessionConflictError } from '../core/session-conflict-error.ts';
import { SessionDeletedError } from '../core/session-deleted-error.ts';
import { createForkLog, createNewLog } from './create-sessions.ts';
import { LiveSession } from './live-session.ts';
import type { Mail } from '../store/session-store.ts';
import type { OpenedMail } from './mail-room.ts';
import type { NewSessionRequest, SessionAccess } from './session-access.ts';
import type { SessionHost } from './session-host.ts';
import type { NewLog } from './session-log.ts';
import { SessionLog } from './session-log.ts';

/** True if a session was created by the same author, with the same wishes. */
function isSameCreation({ facts, action }: NewLog, existing: SessionFacts, creation: Action): boolean {
  const toWishes = ({ agent, createdAt: _, ...rest }: SessionFacts): JsonObject => present({ ...rest, agent: agent.id });
  return jsonEquals({ ...creation.by }, { ...action.by }) && jsonEquals(toWishes(facts), toWishes(existing));
}

type EraseRequest = Extract<ActionRequest, { readonly type: 'erase' }>;

interface DeleteOptions {
  readonly forks?: boolean;
  /** Number of the mail that asked for it. */
  readonly mail?: number;
}

export class WorkerAccess implements SessionAccess {
  readonly #host: SessionHost;

  constructor(host: SessionHost) {
    this.#host = host;
  }

  async act(sessionId: string, request: ActionRequest, options: ActionOptions): Promise<SessionResult> {
    await this.#host.assertOpen();
    for (;;) {
      try {
        if (request.type === 'erase') return await this.#erase(sessionId, request, options);
        return await this.#host.sessions.use(sessionId, (session) => session.act(request, options));
      } catch (error) {
        // Nothing was stored: the session is read again.
        if (!this.#wasReleased(error)) throw error;
      }
    }
  }

  /** True if a session was released before the action was stored. */
  #wasReleased(error: unknown): boolean {
    return error instanceof RuntimeClosedError && !error.isStored && !this.#host.closing.aborted;
  }

  async create(session: NewSessionRequest, options: ActionOptions): Promise<Session> {
    return (await this.#create(createNewLog(session, options.by, this.#host), options)).view();
  }

  async fork(from: ForkPoint, session: Omit<NewSessionRequest, 'agent'>, options: ActionOptions): Promise<Session> {
    return (await this.#create(await this.#toForkLog(from, session, options.by), options)).view();
  }

  async delete(sessionId: string, { forks = false, mail }: DeleteOptions = {}): Promise<void> {
    await this.#host.assertOpen();
    const { epoch } = await this.#host.owner.claim();
    if (forks) for (const id of await findForks(this.#host.store, sessionId)) await this.delete(id, { forks });
    const at = this.#host.clock.now();
    const error = new SessionDeletedError(sessionId, at);
    await this.#host.sessions.release(sessionId, error);
    await this.#host.store.log.delete({ sessionId, epoch, at, takesMail: mail === undefined ? [] : [mail] });
    // Somebody may have read it meanwhile.
    await this.#host.sessions.release(sessionId, error);
    this.#host.forget(sessionId);
    this.#host.onStored(sessionId);
  }

  async #toForkLog(from: ForkPoint, session: Omit<NewSessionRequest, 'agent'>, by: Actor): Promise<NewLog> {
    await this.#host.whenClaimed();
    const { store: reader, clock, ids } = this.#host;
    return this.#host.sessions.use(from.sessionId, ({ log: { facts, states } }) =>
      createForkLog(from, { reader, facts, states }, { session, by, clock, ids }),
    );
  }

  /** Creates a session. The same request creates none again, and returns the one that it created. */
  async #create(parts: NewLog, { requestId, mail }: Pick<ActionOptions, 'requestId'> & { readonly mail?: number }): Promise<LiveSession> {
    const { id } = parts.facts;
    await this.#host.assertOpen();
    try {
      const session = new LiveSession(await SessionLog.create(await this.#host.owner.claim(), parts, { requestId, mail }), this.#host);
      this.#host.sessions.add(session);
      return session;
    } catch (error) {
      if (!(error instanceof SessionConflictError) || requestId === undefined) throw error;
      const entry = await this.#host.store.log.findRequest(id, requestId);
      const creation = entry && readBody(entry.body).action;
      if (creation?.type !== 'create' && creation?.type !== 'fork') throw error;
      return this.#host.sessions.use(id, (session) => {
        if (!isSameCreation(parts, session.log.facts, creation)) throw new RequestReusedError(requestId);
        return session;
      });
    }
  }

  /** Applies an action of another process. Returns true if its mail was removed with it. */
  async applyMail({ mail, request, by }: OpenedMail): Promise<boolean> {
    const { sessionId, requestId, num } = mail;
    const origin = { requestId, mail: num };
    switch (request.type) {
      case 'create':
        await this.#create(createNewLog({ ...request.session, id: sessionId }, by, this.#host), origin);
        return false;
      case 'fork':
        await this.#create(await this.#toForkLog(request.from, { ...request.session, id: sessionId }, by), origin);
        return false;
      case 'delete':
        await this.delete(sessionId, { forks: request.forks === true, mail: num });
        return true;
      case 'erase':
        await this.#erase(sessionId, request, { by, requestId });
        return false;
      default: {
        const options: ActionOptions = { by, requestId, until: 'accepted' };
        const { isRepeated = false } = await this.#host.sessions.use(sessionId, (session) => session.act(request, options, mail));
        return !isRepeated;
      }
    }
  }

  /** Erases a message once the session rests. What is in memory is read again. One that was refused is only in its mail, which goes. */
  async #erase(sessionId: string, request: EraseRequest, options: ActionOptions): Promise<SessionResult> {
    const { messageId } = request;
    const { store } = this.#host;
    const refused = findRefusedSends(await store.inbox.read({ sessionId, isWaiting: false }), messageId);
    const result = await this.#host.sessions.use(sessionId, async (session) => {
      await session.whenIdle();
      assertErasable(sessionId, session.log.state, messageId);
      // Refused before the action is stored, if there is no such message.
      if (refused.length === 0) eraseMessage(sessionId, await readEntriesFrom(store, sessionId, 1), messageId);
      return session.act(request, { ...options, until: 'accepted' });
    });
    while (!(await this.#host.sessions.use(sessionId, (session) => this.#rewrite(session, messageId, refused)))) continue;
    return result;
  }

  /** Stores the log without a message, while nobody else changes it. Returns false if the session was released meanwhile. */
  #rewrite(session: LiveSession, messageId: string, refused: readonly Mail[]): Promise<boolean> {
    const { store, owner } = this.#host;
    return session.whileIdle(async () => {
      if (session.released !== undefined) return false;
      const { epoch } = await owner.claim();
      // First: after a rewrite, the store keeps nothing of what was there before.
      for (const { num } of refused) await store.inbox.answer({ epoch, num });
      const entries = findErased(session.id, await readEntriesFrom(store, session.id, 1), messageId) ?? [];
      await store.log.rewrite({ sessionId: session.id, epoch, after: session.log.head, entries });
      session.release(new RuntimeClosedError('a message was erased', { isStored: true }));
      return true;
    });
  }
}
