// Actions on sessions that another worker owns, or will.
// Owns:     posting an action, and waiting for its result.
// Does not: write to a log.
// C1. An action is safe once it is posted: a worker that starts later applies it.
// C2. Whoever waits gets the same result, or the same error, as in the worker's own process.
// C3. What is checked before an action is posted only saves time: the worker checks again.
import type { AskedCall, RunResult, RunState } from '../../step-by-step/index.ts';
import { toRunResult } from '../../step-by-step/index.ts';
import type { ActionOptions, ActionRequest } from '../core/action.ts';
import { checkAction } from '../core/check-action.ts';
import { readBody, readEntriesFrom } from '../core/entries.ts';
import { assertErasable, eraseMessage } from '../core/erase-message.ts';
import type { MailedAction } from '../core/mail.ts';
import { createDamagedMailError, findRefusedSends, isSameMail, readMailBody, readReply, toMailedActions, writeMail } from '../core/mail.ts';
import { findRest, isAtRest } from '../core/read-session.ts';
import { RequestReusedError, RuntimeClosedError } from '../core/errors.ts';
import { findExecution, isSameRequest } from '../core/requests.ts';
import type { Session, SessionResult } from '../core/session.ts';
import { toSession, toSessionResult } from '../core/session.ts';
import type { LogEntry, Mail } from '../store/session-store.ts';
import type { KnownSession } from './recent-reads.ts';
import type { SessionHost } from './session-host.ts';

/** A mail that was posted, or that was there already. */
interface PostedMail {
  /** Absent if the log has the request. */
  readonly mail: Mail | undefined;
  readonly isRepeated: boolean;
}

export class MailClient {
  readonly #host: SessionHost;

  constructor(host: SessionHost) {
    this.#host = host;
  }

  async act(sessionId: string, request: ActionRequest, options: ActionOptions): Promise<SessionResult> {
    const { requestId } = options;
    const known = requestId === undefined ? undefined : await this.#findRepeated(sessionId, requestId, request);
    if (known !== undefined) return this.#toResult(sessionId, known, { ...options, isRepeated: true });
    // Actions before this one may change what is waited for. One that was posted before is answered as it was then.
    const isPosted = requestId !== undefined && (await this.#host.store.inbox.read({ sessionId, requestId })).length > 0;
    if (!isPosted && (await this.#readWaiting(sessionId)).length === 0) await this.#check(sessionId, request);
    const { mail, isRepeated } = await this.#post(sessionId, { request, ...options }, options);
    if (mail === undefined) return this.act(sessionId, request, options);
    const entry = options.until === 'accepted' ? undefined : await this.#whenApplied(mail);
    return this.#toResult(sessionId, entry, { ...options, isRepeated });
  }

  /** Returns the result of an action that another worker has now. */
  async readResult(sessionId: string, n: number, options: ActionOptions): Promise<SessionResult> {
    const [entry] = await this.#host.store.log.entries(sessionId, { from: n, to: n });
    return this.#toResult(sessionId, entry, { ...options, isRepeated: false });
  }

  /** Shows a session, with the actions that wait for the worker. */
  async view(sessionId: string): Promise<Session> {
    const mailbox = toMailedActions(await this.#readWaiting(sessionId));
    const { facts, state, approvals: given } = await this.#read(sessionId);
    return toSession(facts, state, { approvals: this.#host.approvals, mailbox, given });
  }

  #read(sessionId: string): Promise<KnownSession> {
    return this.#host.reads.read(sessionId);
  }

  #readWaiting(sessionId: string): Promise<readonly Mail[]> {
    return this.#host.store.inbox.read({ sessionId, isWaiting: true });
  }

  /** Throws if an action certainly cannot be applied: whoever sent it hears that at once. */
  async #check(sessionId: string, request: ActionRequest): Promise<void> {
    const { facts, state, queued, approvals, isOpen } = await this.#read(sessionId);
    // Only the worker knows what the open step has asked for, and what will be waited for after it.
    if (isOpen || queued.size > 0) return;
    const { store: reader, agents } = this.#host;
    const agent = agents.find(facts.agent.id);
    const log = { id: sessionId, state, queued, asked: new Map<string, AskedCall>(), reader };
    await checkAction(request, { log, approvals, agent, isRunning: false });
    if (request.type !== 'erase') return;
    assertErasable(sessionId, state, request.messageId);
    const refused = findRefusedSends(await reader.inbox.read({ sessionId, isWaiting: false }), request.messageId);
    if (refused.length === 0) eraseMessage(sessionId, await readEntriesFrom(reader, sessionId, 1), request.messageId);
  }

  async #post(sessionId: string, action: MailedAction, { requestId }: ActionOptions): Promise<PostedMail> {
    const { store, clock, ids, closing } = this.#host;
    if (closing.aborted) throw new RuntimeClosedError(String(closing.reason));
    const body = writeMail(action);
    const request = requestId ?? ids();
    const isUrgent = action.request.type === 'cancel';
    const mail = await store.inbox.post({ sessionId, requestId: request, at: clock.now(), body, isUrgent });
    // Its entry was stored meanwhile.
    if (mail === undefined) return { mail, isRepeated: true };
    if (mail.body !== body && !isSameMail(mail.body, body)) throw new RequestReusedError(request);
    // Refused before: the same answer each time.
    if (mail.reply !== undefined) throw readReply(mail.reply);
    return { mail, isRepeated: mail.body !== body };
  }

  async #findRepeated(sessionId: string, requestId: string, request: ActionRequest): Promise<LogEntry | undefined> {
    const entry = await this.#host.store.log.findRequest(sessionId, requestId);
    const action = entry && readBody(entry.body).action;
    if (action !== undefined && !isSameRequest(action, request)) throw new RequestReusedError(requestId);
    return action === undefined ? undefined : entry;
  }

  /** Settles when the worker has applied a mail. Throws if it refused it. */
  async #whenApplied(posted: Mail): Promise<LogEntry> {
    const { store } = this.#host;
    const { sessionId, requestId } = posted;
    return this.#until(sessionId, async () => {
      // Read before the log: a mail that is gone by then has left its entry there.
      const [mail] = await store.inbox.read({ sessionId, requestId });
      const entry = await store.log.findRequest(sessionId, requestId);
      if (entry !== undefined) return this.#assertSame(entry, posted);
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
    const { store } = this.#host;
    // The damage may be in the request, or in the number.
    const mails = await store.inbox.read({ sessionId, includesDamaged: true });
    const damaged = mails.find((mail) => mail.damage !== undefined && (mail.num === num || mail.requestId === requestId));
    if (damaged !== undefined) throw createDamagedMailError({ ...damaged, num, sessionId, requestId });
  }

  /** Throws if an entry answers another request with the same id: one that another process made at the same time. */
  #assertSame(entry: LogEntry, { requestId, body }: Pick<Mail, 'requestId' | 'body'>): LogEntry {
    const { action } = readBody(entry.body);
    if (action !== undefined && !isSameRequest(action, readMailBody(body).request)) throw new RequestReusedError(requestId);
    return entry;
  }

  /** Returns the result of an action that is in the log, or, without an entry, that waits to be. */
  async #toResult(
    sessionId: string,
    entry: LogEntry | undefined,
    { until, isRepeated }: Pick<ActionOptions, 'until'> & { readonly isRepeated: boolean },
  ): Promise<SessionResult> {
    const { store, approvals } = this.#host;
    if (entry !== undefined && until !== 'accepted') {
      const execution = await this.#until(sessionId, async () => this.#findEnded(sessionId, entry));
      const { facts, state } = await this.#read(sessionId);
      const toResult = (each: RunState): Promise<RunResult> => this.#toRunResult(facts.agent.id, each);
      return toSessionResult(sessionId, state, { execution, isRepeated, approvals, toResult });
    }
    const waiting = await this.#readWaiting(sessionId);
    const { facts, state } = await this.#read(sessionId);
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
    const { store } = this.#host;
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
    return this.#host.agents.find(agentName)?.toResult(state) ?? toRunResult(state, async () => ({ ok: true, output: undefined }));
  }

  async #until<Value>(sessionId: string, read: () => Promise<Value | undefined>): Promise<Value> {
    const { watcher, closing } = this.#host;
    try {
      return await watcher.until(sessionId, read, closing);
    } catch (error) {
      if (closing.aborted && error === closing.reason) throw new RuntimeClosedError(String(closing.reason), { isStored: true });
      throw error;
    }
  }
}
