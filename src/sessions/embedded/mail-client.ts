// Actions of a process that does not run sessions.
// Owns:     posting an action, and waiting for its result.
// Does not: claim the store, or write to a log.
// C1. An action is safe once it is posted: a worker that starts later applies it.
// C2. Whoever waits gets the same result, or the same error, as in the worker's own process.
// C3. What is checked before an action is posted only saves time: the worker checks again.
import type { Clock, IdSource } from '../../lib/index.ts';
import type { AskedCall, RunResult, RunState } from '../../step-by-step/index.ts';
import { toRunResult } from '../../step-by-step/index.ts';
import type { ActionOptions, ActionRequest, Actor, ForkPoint } from '../core/action.ts';
import type { Agents } from '../core/agents.ts';
import { checkAction } from '../core/check-action.ts';
import { readBody, readEntriesFrom } from '../core/entries.ts';
import { assertErasable, eraseMessage } from '../core/erase-message.ts';
import type { ExpiryOptions } from '../core/expiry.ts';
import type { MailedAction, MailedRequest } from '../core/mail.ts';
import {
  createDamagedMailError,
  findRefusedSends,
  isCreatedBy,
  isErasure,
  isSameMail,
  readMailBody,
  readReply,
  toMailedActions,
  writeMail,
} from '../core/mail.ts';
import { findRest, isAtRest } from '../core/read-session.ts';
import { RequestReusedError } from '../core/request-reused-error.ts';
import { findExecution, isSameRequest } from '../core/requests.ts';
import { RuntimeClosedError } from '../core/runtime-closed-error.ts';
import type { Session, SessionResult } from '../core/session.ts';
import { toSession, toSessionResult } from '../core/session.ts';
import { SessionConflictError } from '../core/session-conflict-error.ts';
import type { SessionDeletedError } from '../core/session-deleted-error.ts';
import { UnknownSessionError } from '../core/unknown-session-error.ts';
import type { LogEntry, Mail, SessionStore } from '../store/session-store.ts';
import { createEmptySession, createForkLog } from './create-sessions.ts';
import type { KnownSession, RecentReads } from './recent-reads.ts';
import type { NewSessionRequest, SessionAccess } from './session-access.ts';
import type { NewLog } from './session-log.ts';
import type { StoreWatcher } from './store-watcher.ts';

/** Services the runtime provides to its client. */
export interface ClientServices {
  readonly store: SessionStore;
  readonly agents: Agents;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly watcher: StoreWatcher;
  readonly reads: RecentReads;
  readonly approvals: ExpiryOptions | undefined;
  /** Aborted when the runtime ends. */
  readonly closing: AbortSignal;
}

/** A mail that was posted, or that was there already. */
interface PostedMail {
  readonly mail: Mail;
  readonly isRepeated: boolean;
}

const isDeletion = (error: unknown): error is SessionDeletedError =>
  error instanceof Error && Reflect.get(error, 'code') === 'session-deleted';

export class MailClient implements SessionAccess {
  readonly #services: ClientServices;

  constructor(services: ClientServices) {
    this.#services = services;
  }

  async create(session: NewSessionRequest, options: ActionOptions): Promise<Session> {
    // It is shown as it will be, which needs its agent: refused before anything is posted.
    if (options.until === 'accepted') this.#services.agents.newest(session.agent);
    return this.#make(session.id, { request: { type: 'create', session }, by: options.by }, options);
  }

  async fork(from: ForkPoint, session: Omit<NewSessionRequest, 'agent'>, options: ActionOptions): Promise<Session> {
    await this.#previewFork(from, { session, by: options.by, clock: this.#services.clock });
    return this.#make(session.id, { request: { type: 'fork', from, session }, by: options.by }, options);
  }

  /** Asks for a new session. Throws if its id is taken, unless by the same request. */
  async #make(sessionId: string, action: MailedAction, options: ActionOptions): Promise<Session> {
    const { store } = this.#services;
    const { requestId } = options;
    const taken = await store.heads.read(sessionId);
    if (taken !== undefined) {
      // Read after the head: a session that is there has the entry that made it.
      const entry = requestId === undefined ? undefined : await store.log.findRequest(sessionId, requestId);
      if (requestId === undefined || entry === undefined) throw new SessionConflictError(sessionId, { expected: 0, found: taken.head });
      await this.#assertSame(entry, { sessionId, requestId, body: writeMail(action) });
      return this.view(sessionId);
    }
    const { mail } = await this.#post(sessionId, action, options);
    if (options.until !== 'accepted') await this.#whenApplied(mail);
    return this.view(sessionId);
  }

  async act(sessionId: string, request: ActionRequest, options: ActionOptions): Promise<SessionResult> {
    const { requestId } = options;
    const known = requestId === undefined ? undefined : await this.#findRepeated(sessionId, requestId, request);
    if (known !== undefined) return this.#toResult(sessionId, known, { ...options, isRepeated: true });
    // Actions before this one may change what is waited for. One that was posted before is answered as it was then.
    const isPosted = requestId !== undefined && (await this.#services.store.inbox.read({ sessionId, requestId })).length > 0;
    if (!isPosted && (await this.#readWaiting(sessionId)).length === 0) await this.#check(sessionId, request);
    // Holds: sessions are created and forked by the other methods.
    const { mail, isRepeated } = await this.#post(sessionId, { request: request as MailedRequest, by: options.by }, options);
    const entry = options.until === 'accepted' ? undefined : await this.#whenApplied(mail);
    return this.#toResult(sessionId, entry, { ...options, isRepeated });
  }

  async delete(sessionId: string, options: ActionOptions & { readonly forks?: boolean }): Promise<void> {
    const { by, forks = false } = options;
    try {
      const { mail } = await this.#post(sessionId, { request: { type: 'delete', forks }, by }, options);
      if (options.until !== 'accepted') await this.#whenApplied(mail);
    } catch (error) {
      if (!isDeletion(error)) throw error;
    }
  }

  /** Shows a session, with the actions that wait for the worker. */
  async view(sessionId: string): Promise<Session> {
    const waiting = await this.#readWaiting(sessionId);
    const mailbox = toMailedActions(waiting);
    const { facts, state, approvals: given } = await this.#readOrPreview(sessionId, waiting);
    return toSession(facts, state, { approvals: this.#services.approvals, mailbox, given });
  }

  #read(sessionId: string): Promise<KnownSession> {
    return this.#services.reads.read(sessionId);
  }

  /** Reads a session; one that is only asked for yet is shown as it will be. */
  async #readOrPreview(sessionId: string, waiting: readonly Mail[]): Promise<Pick<KnownSession, 'facts' | 'state' | 'approvals'>> {
    try {
      return await this.#read(sessionId);
    } catch (error) {
      const preview = error instanceof UnknownSessionError ? await this.#preview(sessionId, waiting) : undefined;
      if (preview === undefined) throw error;
      return preview;
    }
  }

  /** Shows a session as it will be; undefined if nobody has asked for it. */
  async #preview(sessionId: string, waiting: readonly Mail[]): Promise<Pick<KnownSession, 'facts' | 'state' | 'approvals'> | undefined> {
    const { agents, ids } = this.#services;
    for (const { body, at } of waiting) {
      const { request, by } = readMailBody(body);
      if (request.type === 'create')
        return { ...createEmptySession({ ...request.session, id: sessionId }, { agents, ids, at }), approvals: [] };
      if (request.type !== 'fork') continue;
      const clock = { ...this.#services.clock, now: () => at };
      return { ...(await this.#previewFork(request.from, { session: { ...request.session, id: sessionId }, by, clock })), approvals: [] };
    }
    return undefined;
  }

  /** Returns a fork as it will be. Throws if its source has no such step. */
  async #previewFork(
    from: ForkPoint,
    fork: { readonly session: Omit<NewSessionRequest, 'agent'>; readonly by: Actor; readonly clock: Clock },
  ): Promise<NewLog> {
    const { store: reader, ids } = this.#services;
    return createForkLog(from, { reader, ...(await this.#read(from.sessionId)) }, { ...fork, ids });
  }

  #readWaiting(sessionId: string): Promise<readonly Mail[]> {
    return this.#services.store.inbox.read({ sessionId, isWaiting: true });
  }

  /** Throws if an action certainly cannot be applied: whoever sent it hears that at once. */
  async #check(sessionId: string, request: ActionRequest): Promise<void> {
    const { facts, state, queued, approvals, isOpen } = await this.#read(sessionId);
    // Only the worker knows what the open step has asked for, and what will be waited for after it.
    if (isOpen || queued.size > 0) return;
    const { store: reader, agents } = this.#services;
    const agent = agents.find(facts.agent.id);
    const log = { id: sessionId, state, queued, asked: new Map<string, AskedCall>(), reader };
    await checkAction(request, { log, approvals, agent, isRunning: false });
    if (request.type !== 'erase') return;
    assertErasable(sessionId, state, request.messageId);
    const refused = findRefusedSends(await reader.inbox.read({ sessionId, isWaiting: false }), request.messageId);
    if (refused.length === 0) eraseMessage(sessionId, await readEntriesFrom(reader, sessionId, 1), request.messageId);
  }

  async #post(sessionId: string, action: MailedAction, { requestId }: ActionOptions): Promise<PostedMail> {
    const { store, clock, ids, closing } = this.#services;
    if (closing.aborted) throw new RuntimeClosedError(String(closing.reason));
    const body = writeMail(action);
    const request = requestId ?? ids();
    const mail = await store.inbox.post({ sessionId, requestId: request, at: clock.now(), body });
    if (mail.body !== body && !isSameMail(mail.body, body)) throw new RequestReusedError(request);
    // Refused before: the same answer each time.
    if (mail.reply !== undefined) throw readReply(mail.reply);
    return { mail, isRepeated: mail.body !== body };
  }

  async #findRepeated(sessionId: string, requestId: string, request: ActionRequest): Promise<LogEntry | undefined> {
    const entry = await this.#services.store.log.findRequest(sessionId, requestId);
    const action = entry && readBody(entry.body).action;
    if (action !== undefined && !isSameRequest(action, request)) throw new RequestReusedError(requestId);
    if (action === undefined) return undefined;
    // Stored before the message is erased: until then, its mail is there.
    const isOver = action.type !== 'erase' || (await this.#services.store.inbox.read({ sessionId, requestId })).length === 0;
    return isOver ? entry : undefined;
  }

  /** Settles when the worker has applied a mail. Throws if it refused it. */
  async #whenApplied(posted: Mail): Promise<LogEntry> {
    const { store } = this.#services;
    const { sessionId, requestId } = posted;
    // The action is stored first, then the log is rewritten; the mail stays until both are done.
    const isErasing = isErasure(posted);
    return this.#until(sessionId, async () => {
      // Read before the log: a mail that is gone by then has left its entry there.
      const [mail] = await store.inbox.read({ sessionId, requestId });
      const entry = await store.log.findRequest(sessionId, requestId);
      if (entry !== undefined && (!isErasing || mail === undefined)) return this.#assertSame(entry, posted);
      if (mail?.reply !== undefined) throw readReply(mail.reply);
      if (mail !== undefined) return undefined;
      // Gone without an entry: it is damaged, or the session was deleted, or somebody has removed it.
      await this.#assertUndamaged(posted);
      await this.#read(sessionId);
      throw createDamagedMailError({ ...posted, damage: 'its row is gone' });
    });
  }

  /** Throws if the row of a mail is damaged: no worker will apply it. */
  async #assertUndamaged({ num, sessionId, requestId }: Mail): Promise<void> {
    const { store } = this.#services;
    // The damage may be in the ids, or in the number.
    const [byRequest, byNumber] = await Promise.all([
      store.inbox.read({ sessionId, requestId, includesDamaged: true }),
      store.inbox.read({ after: num - 1, limit: 1, includesDamaged: true }),
    ]);
    const damaged = [...byRequest, ...byNumber.filter((mail) => mail.num === num)].find(({ damage }) => damage !== undefined);
    if (damaged !== undefined) throw createDamagedMailError({ ...damaged, num, sessionId, requestId });
  }

  /** Throws if an entry answers another request with the same id: one that another process made at the same time. */
  async #assertSame(entry: LogEntry, { sessionId, requestId, body }: Pick<Mail, 'sessionId' | 'requestId' | 'body'>): Promise<LogEntry> {
    const mailed = readMailBody(body);
    const { action } = readBody(entry.body);
    if (action === undefined) return entry;
    const { request } = mailed;
    const isSame =
      request.type === 'create' || request.type === 'fork'
        ? isCreatedBy(mailed, (await this.#read(sessionId)).facts, action)
        : request.type !== 'delete' && isSameRequest(action, request);
    if (!isSame) throw new RequestReusedError(requestId);
    return entry;
  }

  /** Returns the result of an action that is in the log, or, without an entry, that waits to be. */
  async #toResult(
    sessionId: string,
    entry: LogEntry | undefined,
    { until, isRepeated }: Pick<ActionOptions, 'until'> & { readonly isRepeated: boolean },
  ): Promise<SessionResult> {
    const { store, approvals } = this.#services;
    if (entry !== undefined && until !== 'accepted') {
      const execution = await this.#until(sessionId, async () => this.#findEnded(sessionId, entry));
      const { facts, state } = await this.#read(sessionId);
      const toResult = (each: RunState): Promise<RunResult> => this.#toRunResult(facts.agent.id, each);
      return toSessionResult(sessionId, state, { execution, isRepeated, approvals, toResult });
    }
    const waiting = await this.#readWaiting(sessionId);
    const { facts, state } = await this.#readOrPreview(sessionId, waiting);
    const known = entry && (await findExecution(store, sessionId, entry));
    return toSessionResult(sessionId, state, {
      execution: known ?? state.execution.number,
      isRepeated,
      isPending: known === undefined,
      approvals,
      mailbox: toMailedActions(waiting),
      toResult: (each) => this.#toRunResult(facts.agent.id, each),
    });
  }

  /** Returns the execution that an action went to, once it has ended or waits. */
  async #findEnded(sessionId: string, entry: LogEntry): Promise<number | undefined> {
    const { store } = this.#services;
    const execution = await findExecution(store, sessionId, entry);
    if (execution !== undefined) return (await isAtRest(store, sessionId, execution)) ? execution : undefined;
    const rest = await findRest(store, sessionId);
    // A session that was deleted meanwhile says so.
    if (rest === undefined) await this.#read(sessionId);
    if (rest?.isAtRest !== true) return undefined;
    // At rest with a queued action: it was applied since the log was read, or it is a message behind a wait. After a crash loop, nothing
    // is applied until a person decides.
    const applied = await findExecution(store, sessionId, entry);
    if (applied === undefined) return rest.isCrashLoop ? rest.executions : undefined;
    return (await isAtRest(store, sessionId, applied)) ? applied : undefined;
  }

  #toRunResult(agentName: string, state: RunState): Promise<RunResult> {
    // Without its agent, the result has no output.
    return this.#services.agents.find(agentName)?.toResult(state) ?? toRunResult(state, async () => ({ ok: true, output: undefined }));
  }

  async #until<Value>(sessionId: string, read: () => Promise<Value | undefined>): Promise<Value> {
    const { watcher, closing } = this.#services;
    try {
      return await watcher.until(sessionId, read, [closing]);
    } catch (error) {
      if (closing.aborted && error === closing.reason) throw new RuntimeClosedError(String(closing.reason), { isStored: true });
      throw error;
    }
  }
}
