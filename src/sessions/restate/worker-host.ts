// The sessions that this worker runs.
// Owns:     the turns that run here, notifications about them, the worker's heartbeat, and its shutdown.
// Does not: decide which worker gets a turn: the server does.
// K1. A mail for a session that runs here is delivered at once; otherwise its own turn delivers it.
// K2. Once the worker is drained, it takes no turns.
import { reportSafely, reportToConsole } from '../../events/index.ts';
import { omitUndefined, readProcessIdentity, sleep, systemClock, systemIds } from '../../lib/index.ts';
import type { LogEntry, Mail, SessionFacts, SessionHeader, SessionStore, StoreChange, StoredHold } from '../index.ts';
import { Agents, HoldGate, OpenStepHub, RecoveryGate, RunSlots, RuntimeClosedError, StoreWatcher } from '../index.ts';
import type { Ingress } from './ingress.ts';
import { openIngress } from './ingress.ts';
import type { EntryRange, Heartbeat, Notice, PendingNotices, ReportReply, ServiceNames, TurnReport } from './protocol.ts';
import { registryKey, toServiceNames } from './protocol.ts';
import { ReportSender } from './report-sender.ts';
import type { SessionSource } from './session-source.ts';
import type { SessionTurn } from './session-turn.ts';
import type { ServeSessionsOptions } from './serve-options.ts';
import type { TurnServices } from './turn-services.ts';

/** Time between two heartbeats. */
const beatMs = 1000;

/** Longest time to say that the worker leaves. */
const leaveMs = 2000;

/** Delay before notices are asked for again after a failure. */
const retryMs = 500;

/** Longest time to wait for the desk to store reports; they are sent again. */
const reportMs = 60_000;

/** Longest time to look for the answer to an earlier request. */
const requestMs = 10_000;

/** Maximum time for the desk to catch up with a session. */
const catchUpMs = 10_000;
const lookMs = 20;

export class SessionWorkerHost {
  readonly id: string = systemIds();
  readonly names: ServiceNames;
  readonly services: TurnServices;
  readonly stepsPerInvocation: number;
  readonly maxRecordBytes: number;
  readonly #options: ServeSessionsOptions;
  readonly #ingress: Ingress;
  /** Turns that take mails. */
  readonly #turns = new Map<string, SessionTurn>();
  /** Turns that are not over, including those that only have to report and record their end. */
  readonly #running = new Set<SessionTurn>();
  readonly #closing = new AbortController();
  readonly #listeners = new Set<(change: StoreChange) => void>();
  readonly #startedAt: number;
  readonly #reports: ReportSender;
  #holdIds: readonly string[] = [];
  #onEmpty = (): void => undefined;

  constructor(options: ServeSessionsOptions) {
    const {
      agents,
      clock = systemClock,
      ids = systemIds,
      maxRecoveries = 3,
      maxConcurrent = 500,
      stepsPerInvocation = 200,
      states,
    } = options;
    this.#options = options;
    this.names = toServiceNames(options.prefix ?? 'Stepline');
    this.stepsPerInvocation = stepsPerInvocation;
    this.maxRecordBytes = options.maxRecordBytes ?? 8 * 1024 * 1024;
    this.#ingress = openIngress(options.ingress);
    this.#startedAt = systemClock.now();
    this.#reports = new ReportSender({
      send: (reports) =>
        this.#ingress.call<readonly ReportReply[]>(
          { service: this.names.workers, handler: 'report' },
          reports,
          AbortSignal.timeout(reportMs),
        ),
      onMail: (sessionId) => void this.#offerMails(sessionId),
    });
    const closing = this.#closing.signal;
    this.services = {
      options,
      agents: new Agents(agents, { policy: options.onVersionChange, states }),
      clock,
      ids,
      approvals: options.approvals,
      openSteps: new OpenStepHub(),
      holds: this.#createGate(closing),
      slots: new RunSlots(maxConcurrent, closing),
      recoveries: new RecoveryGate(closing),
      maxRecoveries,
      report: (error, where) => this.#report(error, where),
    };
  }

  #createGate(closing: AbortSignal): HoldGate {
    // Holds: the gate uses nothing else of a store.
    const store = {
      readHolds: () => this.#readHolds(),
      watch: (listener: (change: StoreChange) => void) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
    } as unknown as SessionStore;
    // Refreshed only once a minute: there is a notice when holds change.
    const clock = { ...systemClock, schedule: (ms: number, call: () => void) => systemClock.schedule(ms * 60, call, true) };
    const watcher = new StoreWatcher(store, clock);
    return new HoldGate({ store, watcher, clock, closing, report: (error, where) => this.#report(error, where) });
  }

  async #readHolds(): Promise<readonly StoredHold[]> {
    const { workers } = this.names;
    const holds = await this.#ingress.call<readonly StoredHold[]>({ service: workers, handler: 'holds' }, {}, this.#closing.signal);
    this.#holdIds = holds.map(({ id }) => id);
    return holds;
  }

  /** Settles when this worker knows these holds, or knows that they are gone. */
  async whenHoldsKnown(ids: readonly string[]): Promise<void> {
    await this.services.holds.start();
    if (ids.length !== this.#holdIds.length || ids.some((id) => !this.#holdIds.includes(id))) await this.services.holds.refresh();
  }

  /** Number of sessions that this worker runs now. */
  get turnCount(): number {
    return this.#turns.size;
  }

  // A function, because the compiler would assume that a property stays the same across an await.
  #isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  assertOpen(): void {
    if (this.#isClosing()) throw new RuntimeClosedError('the worker was drained');
  }

  add(sessionId: string, turn: SessionTurn): void {
    this.#turns.get(sessionId)?.release(new RuntimeClosedError('another attempt has started', { isStored: true }));
    this.#turns.set(sessionId, turn);
    this.#running.add(turn);
    if (this.#closing.signal.aborted) turn.leave();
  }

  /** Gives a turn no more mails. */
  forget(sessionId: string, turn: SessionTurn): void {
    if (this.#turns.get(sessionId) === turn) this.#turns.delete(sessionId);
  }

  /** Notes that a turn is over. */
  end(turn: SessionTurn): void {
    this.#running.delete(turn);
    if (this.#running.size === 0) this.#onEmpty();
  }

  /** Announces the worker and listens until it is drained. Settles when the desk knows the worker. */
  async start(): Promise<void> {
    const { signal } = this.#closing;
    // The desk may be registered after the worker, and the server may start after both.
    for (let isKnown = false; !isKnown && !signal.aborted;) {
      isKnown = await this.#beat().then(
        () => true,
        (error: unknown) => {
          if (!this.#isClosing()) this.#report(error, 'the heartbeat');
          return false;
        },
      );
      if (!isKnown) await sleep(systemClock, retryMs, signal).catch(() => undefined);
    }
    void this.#beatAgain();
    void this.#receiveNotices();
  }

  async #beat(isLeaving = false): Promise<void> {
    const { name } = this.#options;
    const heartbeat: Heartbeat = omitUndefined({
      ...readProcessIdentity(),
      id: this.id,
      name,
      since: this.#startedAt,
      isLeaving,
    });
    // Whoever is about to leave does not wait long for a server that may be gone.
    const signal = isLeaving ? AbortSignal.timeout(leaveMs) : this.#closing.signal;
    await this.#ingress.call({ service: this.names.registry, key: registryKey, handler: 'beat' }, heartbeat, signal);
  }

  async #beatAgain(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await sleep(systemClock, beatMs, signal).catch(() => undefined);
      if (!this.#isClosing())
        await this.#beat().catch((error: unknown) => {
          if (!this.#isClosing()) this.#report(error, 'the heartbeat');
        });
    }
  }

  async #receiveNotices(): Promise<void> {
    const { signal } = this.#closing;
    const { workers } = this.names;
    let received = 0;
    while (!signal.aborted) {
      try {
        const { notices, upTo } = await this.#ingress.call<PendingNotices>(
          { service: workers, handler: 'notices' },
          { worker: this.id, received },
          signal,
        );
        for (const notice of notices) this.#receive(notice);
        received = upTo;
      } catch (error) {
        if (this.#isClosing()) return;
        this.#report(error, 'the notices of this worker');
        await sleep(systemClock, retryMs, signal).catch(() => undefined);
      }
    }
  }

  #receive(notice: Notice): void {
    if (notice.type === 'holds') for (const listener of [...this.#listeners]) listener({ hasMail: false });
    else this.#turns.get(notice.mail.sessionId)?.offer(notice.mail);
  }

  /** Gives a session the mails that wait for it. */
  async #offerMails(sessionId: string): Promise<void> {
    try {
      for (const mail of await this.readMails(sessionId)) this.#turns.get(sessionId)?.offer(mail);
    } catch (error) {
      this.#report(error, `the mails of session ${sessionId}, which its next turn applies`);
    }
  }

  /** Sends a report to the desk; settles when the desk has answered, with false if it lacks what comes before. */
  readonly sendReport = (report: TurnReport, signal: AbortSignal): Promise<boolean> => this.#reports.send(report, signal);

  /** Finds the entry of a session that answered a request, however old. */
  async findRequest(sessionId: string, requestId: string): Promise<LogEntry | undefined> {
    const entry = await this.#ingress.call<LogEntry | null>(
      { service: this.names.session, key: sessionId, handler: 'request' },
      requestId,
      AbortSignal.timeout(requestMs),
    );
    return entry ?? undefined;
  }

  /** Reads entries from the desk; waits until the desk has all of them. */
  readonly readEntries = async (sessionId: string, { from, to }: EntryRange): Promise<readonly LogEntry[]> => {
    const until = systemClock.monotonic() + catchUpMs;
    for (;;) {
      const entries = await this.#ask<readonly LogEntry[]>(sessionId, 'entries', { from, to } satisfies EntryRange);
      if (entries.at(-1)?.n === to || systemClock.monotonic() > until) return entries;
      await sleep(systemClock, lookMs);
    }
  };

  /** Reads the header of another session from the desk. */
  readHead(sessionId: string): Promise<{ readonly header: SessionHeader; readonly head: number } | undefined> {
    return this.#ask(sessionId, 'header', {});
  }

  /** Reads the pending mails of a session. */
  readMails(sessionId: string): Promise<readonly Mail[]> {
    return this.#ask(sessionId, 'mails', {});
  }

  #ask<Answer>(key: string, handler: string, body: unknown): Promise<Answer> {
    return this.#ingress.call<Answer>({ service: this.names.desk, key, handler }, body);
  }

  toSource({ agentName }: SessionHeader, facts: SessionFacts, head: number): SessionSource {
    const states = this.services.agents.newest(agentName).states;
    const entries: SessionSource['reader']['entries'] = async (sessionId, { from = 1, to = head, limit = 1000 } = {}) => {
      const last = Math.min(to, head, from + limit - 1);
      return from > last ? [] : this.readEntries(sessionId, { from, to: last });
    };
    // Holds: a fork reads the entries of its source, and its header.
    return { reader: { entries, load: async () => undefined } as unknown as SessionSource['reader'], facts, states };
  }

  /** Takes no more turns, lets open steps finish, and leaves the rest to other workers. */
  async drain(timeoutMs: number): Promise<void> {
    this.#closing.abort('the worker was drained');
    for (const turn of this.#turns.values()) turn.leave();
    const isEmpty = new Promise<void>((resolve) => {
      this.#onEmpty = resolve;
      if (this.#running.size === 0) resolve();
    });
    const timeout = new AbortController();
    await Promise.race([isEmpty, sleep(systemClock, timeoutMs, timeout.signal).catch(() => undefined)]);
    timeout.abort();
    await Promise.all([...this.#turns.values()].map((turn) => turn.abandon()));
    await this.#beat(true).catch((error: unknown) => this.#report(error, 'the heartbeat'));
  }

  #report(error: unknown, where: string): void {
    reportSafely(this.#options.onProblem ?? reportToConsole, error, where);
  }
}
