// One session during one turn on a worker.
// Owns:     loading the session, applying mails, and deciding when the turn is over.
// Does not: know Restate: the handler of the turn records its writes.
// N1. Mails are applied in order, each once. A mail that cannot be applied is answered with the error; if only this worker cannot apply it,
//     it is kept for another one, and so are those behind it.
// N2. A turn ends at a boundary: no step is open, and another turn does the remaining work.
// N3. Once the attempt is over, it starts and writes nothing more.
import { notifyListener, reportToConsole } from '../../events/index.ts';
import { SteplineError } from '../../lib/index.ts';
import type { ActionOptions, ActionRequest, ClaimedStore, Mail, MailedAction, NewLog, SessionServices, SessionStore } from '../index.ts';
import {
  assertErasable,
  createForkLog,
  createNewLog,
  eraseMessage,
  findCrashLoop,
  isCreatedBy,
  LiveSession,
  readBody,
  readEntriesFrom,
  readMailBody,
  RequestReusedError,
  RuntimeClosedError,
  SessionConflictError,
  SessionDeletedError,
  SessionLog,
  storeCrashLoop,
  toWire,
  UnknownSessionError,
} from '../index.ts';
import { findDueActions } from './due-actions.ts';
import type { SessionImage } from './session-image.ts';
import type { SessionSource } from './session-source.ts';
import type { TurnServices } from './turn-services.ts';

/** A turn of a session on this worker. */
interface TurnOptions {
  readonly sessionId: string;
  readonly image: SessionImage;
  readonly store: SessionStore;
  /** Bytes of the largest snapshot that the store takes. */
  readonly maxSnapshotBytes: number;
  /** True if an earlier attempt at this turn ended without its end. */
  readonly isRepeated: boolean;
  readonly services: TurnServices;
  /** Called if the turn cannot continue. */
  readonly onFailed: (error: unknown) => void;
  /** Reads another session, to fork it. */
  readonly readSource: (sessionId: string) => Promise<SessionSource>;
}

type EraseRequest = Extract<ActionRequest, { readonly type: 'erase' }>;

const hasCode = (error: unknown, ...codes: readonly string[]): boolean => SteplineError.is(error) && codes.includes(error.code);

export class SessionTurn {
  readonly #options: TurnOptions;
  readonly #claimed: ClaimedStore;
  readonly #closing = new AbortController();
  readonly #mails: Mail[] = [];
  readonly #known = new Set<number>();
  readonly #erasures = new Set<Promise<void>>();
  readonly #services: SessionServices;
  #session: LiveSession | undefined;
  #wake = (): void => undefined;
  #isRepeated: boolean;
  #isUnreadable = false;
  #keepsMails = false;
  #leavesMails = false;
  #hasRefusedDue = false;

  constructor(options: TurnOptions) {
    this.#options = options;
    const { services, store, maxSnapshotBytes } = options;
    this.#isRepeated = options.isRepeated;
    this.#claimed = { store, epoch: 0, clock: services.clock, approvals: services.approvals, maxSnapshotBytes };
    this.#services = {
      options: services.options,
      agents: services.agents,
      closing: this.#closing.signal,
      measureOutage: () => undefined,
      openSteps: services.openSteps,
      holds: services.holds,
      slots: services.slots,
      recoveries: services.recoveries,
      maxRecoveries: services.maxRecoveries,
      onStored: () => undefined,
      onIdle: () => undefined,
      onReleased: (_, error) => this.#onReleased(error),
      report: services.report,
    };
  }

  /** Delivers a mail, unless the session already has it. */
  offer(mail: Mail): void {
    if (this.#known.has(mail.num) || this.#options.image.hasTaken(mail.num)) return;
    this.#known.add(mail.num);
    this.#mails.push(mail);
    this.#mails.sort((one, other) => one.num - other.num);
    this.#wake();
  }

  /** Lets the open step finish, and starts no other. */
  leave(): void {
    if (!this.#closing.signal.aborted) this.#closing.abort('its turn ends');
    this.#wake();
  }

  /** Ends it in the middle: another attempt continues from what is recorded. */
  async abandon(): Promise<void> {
    await this.#session?.leave().catch(() => undefined);
    this.#session?.release(new RuntimeClosedError('the worker was drained', { isStored: true }));
  }

  /** Releases the session: whatever the turn still does is ignored. */
  release(error: unknown): void {
    this.leave();
    this.#session?.release(error);
  }

  /** True if there is work left that needs no outside input. */
  get isOpen(): boolean {
    return this.#options.image.header?.isOpen === true;
  }

  /** True if this worker could not do all the work: another one may, with another build of its agents, or this one later. */
  get hasFailed(): boolean {
    const { isOpen = false, wakeAt = Infinity } = this.#options.image.header ?? {};
    const isDue = wakeAt <= this.#options.services.clock.now();
    return this.#keepsMails || (this.#isUnreadable && (isOpen || isDue)) || (this.#hasRefusedDue && isDue && !isOpen);
  }

  /** True if mails were left that this worker cannot apply. */
  get keepsMails(): boolean {
    return this.#keepsMails;
  }

  /** True if mails were left because the turn had to end. */
  get leavesMails(): boolean {
    return this.#leavesMails || this.#mails.length > 0;
  }

  /** Settles when the session rests, or was left. */
  async run(): Promise<void> {
    const { image } = this.#options;
    if (image.header !== undefined) await this.#load().catch((error: unknown) => this.#reportUnreadable(error));
    await this.#applyDue();
    for (;;) {
      await this.#applyMails();
      this.#session?.resume();
      const idle = this.#session?.whenIdle() ?? Promise.resolve();
      const isOver = await Promise.race([
        Promise.all([idle, ...this.#erasures]).then(() => true),
        new Promise<boolean>((resolve) => (this.#wake = () => resolve(false))),
      ]);
      this.#wake = () => undefined;
      if (this.#mails.length > 0 && !this.#closing.signal.aborted) continue;
      if (isOver && this.#erasures.size === 0) break;
      if (this.#closing.signal.aborted) {
        await this.#session?.whenIdle();
        break;
      }
    }
  }

  #onReleased(error: unknown): void {
    if (hasCode(error, 'session-deleted') || this.#erasures.size > 0) return;
    const { sessionId, services, onFailed } = this.#options;
    if (!hasCode(error, 'runtime-closed')) services.report(error, `session ${sessionId}`);
    onFailed(error);
  }

  #reportUnreadable(error: unknown): void {
    this.#isUnreadable = true;
    this.#options.services.report(error, `session ${this.#options.sessionId}`);
  }

  async #load(): Promise<LiveSession> {
    if (this.#session !== undefined && this.#session.released === undefined) return this.#session;
    const { image, sessionId, services } = this.#options;
    if (image.deletedAt !== undefined) throw new SessionDeletedError(sessionId, image.deletedAt);
    const stored = image.toStored();
    if (stored === undefined) throw new UnknownSessionError(sessionId);
    const log = SessionLog.load(this.#claimed, stored, services.agents.newest(stored.header.agentName).states);
    const isLeftOpen = this.#isRepeated && log.isOpen;
    this.#isRepeated = false;
    if (isLeftOpen && log.nextRecovery > services.maxRecoveries) await this.#giveUp(log);
    this.#session = new LiveSession(log, this.#services, isLeftOpen && log.isOpen);
    this.#isUnreadable = false;
    return this.#session;
  }

  async #giveUp(log: SessionLog): Promise<void> {
    const { agents, options, report } = this.#options.services;
    const events = await storeCrashLoop(log, agents.newest(log.facts.agent.id).name);
    const { onEvent, onProblem = reportToConsole } = options;
    for (const event of events) notifyListener((each) => onEvent?.(each, log.facts), event, onProblem);
    report(findCrashLoop(log.id, log.state), `session ${log.id}`);
  }

  /** Runs the actions that are due: expires approvals, retries providers. */
  async #applyDue(): Promise<void> {
    const { services, image } = this.#options;
    const session = this.#session;
    if (session === undefined || !session.log.journal.isEmpty) return;
    const now = services.clock.now();
    const due = await findDueActions(session, services.approvals, now);
    // Stored by a worker with other rules: here it is due at another time, or never.
    if (due.length === 0 && !session.log.isOpen && (image.header?.wakeAt ?? Infinity) <= now) await session.touch();
    for (const { request, by } of due)
      await session.act(request, { by, until: 'accepted' }).catch((error: unknown) => {
        this.#hasRefusedDue = true;
        services.report(error, `the waits of session ${session.id}`);
      });
  }

  async #applyMails(): Promise<void> {
    while (!this.#closing.signal.aborted) {
      const mail = this.#mails.shift();
      if (mail === undefined) return;
      if (!this.#options.image.hasTaken(mail.num)) await this.#apply(mail);
    }
  }

  /** Applies a mail, or answers it with an error. */
  async #apply(mail: Mail): Promise<void> {
    const { num } = mail;
    const answer = (reply?: string): Promise<void> =>
      this.#claimed.store.answerMail({ epoch: 0, num, ...(reply !== undefined && { reply }) });
    const refuse = async (error: unknown): Promise<void> => {
      if (hasCode(error, 'runtime-closed', 'store-fenced') || this.#closing.signal.aborted) {
        this.#leavesMails = true;
        return;
      }
      if (this.#isForOthers(error)) {
        this.#keepMails(error);
        return;
      }
      await answer(JSON.stringify(toWire(error)));
    };
    try {
      const opened = readMailBody(mail.body);
      if (this.#keepsMails && opened.request.type !== 'delete') return;
      if (opened.request.type === 'erase') this.#startErasure(mail, opened, { answer, refuse });
      else if (!(await this.#tryToApply(mail, opened))) await answer();
    } catch (error) {
      await refuse(error);
    }
  }

  /** True if another worker may be able to do what failed here, one with another build of the agents, or this one later. */
  #isForOthers(error: unknown): boolean {
    const { onVersionChange } = this.#options.services.options;
    // Without the server, nobody can tell whether the request was applied before.
    const isTransient = hasCode(error, 'ingress-failed') || (error instanceof Error && error.name === 'TimeoutError');
    return isTransient || hasCode(error, 'unknown-agent', 'newer-schema', ...(onVersionChange === 'pin' ? ['agent-changed'] : []));
  }

  #keepMails(error: unknown): void {
    const { services, sessionId } = this.#options;
    this.#keepsMails = true;
    // That the session cannot be read was reported already.
    if (!this.#isUnreadable) services.report(error, `the actions of session ${sessionId}, which are kept for a worker that can apply them`);
  }

  /** Returns true if the mail was taken with the write that applied it. */
  async #tryToApply(mail: Mail, opened: MailedAction): Promise<boolean> {
    const { request, by } = opened;
    const { requestId, sessionId } = mail;
    const { services } = this.#options;
    switch (request.type) {
      case 'create':
        return this.#create(mail, opened, async () => createNewLog({ ...request.session, id: sessionId }, by, services));
      case 'fork':
        return this.#create(mail, opened, async () => {
          const source = await this.#options.readSource(request.from.sessionId);
          return createForkLog(request.from, source, { session: { ...request.session, id: sessionId }, by, ...services });
        });
      case 'delete':
        await this.#delete(mail);
        return true;
      default: {
        const session = await this.#load();
        const { isRepeated = false } = await session.act(request, { by, requestId, until: 'accepted' }, mail);
        return !isRepeated;
      }
    }
  }

  /** Creates the session; its first entry takes the mail. Returns false if an earlier request has created it. */
  async #create({ requestId, sessionId, num }: Mail, opened: MailedAction, make: () => Promise<NewLog>): Promise<boolean> {
    const { image } = this.#options;
    if (image.deletedAt !== undefined) throw new SessionDeletedError(sessionId, image.deletedAt);
    if (image.header === undefined) {
      const log = await SessionLog.create(this.#claimed, await make(), { requestId, mail: num });
      this.#session = new LiveSession(log, this.#services);
      return true;
    }
    const entry = await this.#claimed.store.findRequest(sessionId, requestId);
    const creation = entry && readBody(entry.body).action;
    if (creation === undefined) throw new SessionConflictError(sessionId, { expected: 0, found: image.head });
    if (!isCreatedBy(opened, (await this.#load()).log.facts, creation)) throw new RequestReusedError(requestId);
    return false;
  }

  async #delete({ sessionId, num }: Mail): Promise<void> {
    const at = this.#options.services.clock.now();
    this.#session?.release(new SessionDeletedError(sessionId, at));
    await this.#session?.released;
    this.#session = undefined;
    this.#options.services.openSteps.forget(sessionId);
    await this.#claimed.store.delete({ sessionId, epoch: 0, at, takesMail: [num] });
  }

  /** Erases a message once the session rests; mails behind it do not wait. */
  #startErasure(
    { requestId }: Mail,
    { request, by }: MailedAction,
    { answer, refuse }: { readonly answer: () => Promise<void>; readonly refuse: (error: unknown) => Promise<void> },
  ): void {
    const erasing = this.#erase(request as EraseRequest, { by, requestId, until: 'accepted' })
      .then(answer, refuse)
      .catch((error: unknown) => this.#options.onFailed(error))
      .finally(() => {
        this.#erasures.delete(erasing);
        this.#wake();
      });
    this.#erasures.add(erasing);
  }

  async #erase(request: EraseRequest, options: ActionOptions): Promise<void> {
    const { messageId } = request;
    const { sessionId } = this.#options;
    const session = await this.#load();
    const { store } = this.#claimed;
    await session.whenIdle();
    if (this.#closing.signal.aborted) throw new RuntimeClosedError('its turn ends');
    assertErasable(sessionId, session.log.state, messageId);
    // Refused before the action is stored, if there is no such message.
    eraseMessage(sessionId, await readEntriesFrom(store, sessionId, 1), messageId);
    await session.act(request, options);
    await session.whileIdle(async () => {
      const entries = eraseMessage(sessionId, await readEntriesFrom(store, sessionId, 1), messageId);
      await store.rewrite({ sessionId, epoch: 0, after: session.log.head, entries });
      session.release(new RuntimeClosedError('a message was erased', { isStored: true }));
    });
    await session.released;
    if (this.#session === session) this.#session = undefined;
    await this.#load();
  }
}
