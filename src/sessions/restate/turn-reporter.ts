// The reports of one turn to the desk.
// Owns:     the times at which a turn reports, and what the desk has not confirmed yet.
// Does not: record anything: a report is made of rows that are recorded already.
// G3. Changes that somebody may be waiting for are reported at once, and the session continues when readers see them. Steps are reported a
//     few times a second, and everything at the end.
// G4. A worker with many sessions reports the steps of each of them less often.
// G5. A report that fails is sent again with the next one. The end of the turn says what is left.
import type { Clock } from '../../lib/index.ts';
import type { TurnChange, TurnReport } from './protocol.ts';
import type { SessionImage } from './session-image.ts';

/** Time between two reports of steps. */
const stepReportMs = 200;

/** Minimum time between two reports of steps, for each session of a worker. */
const perSessionMs = 2;

/** Longest time that a turn waits for the desk. */
const patienceMs = 1000;

/** Parts of a turn, and of its worker, that its reports need. */
interface ReporterOptions {
  readonly clock: Clock;
  readonly sessionId: string;
  readonly worker: string;
  readonly image: SessionImage;
  /** Settles with false if the desk lacks what comes before. */
  readonly send: (report: TurnReport, signal: AbortSignal) => Promise<boolean>;
  /** Number of sessions that the worker runs. */
  readonly countTurns: () => number;
  readonly onProblem: (error: unknown) => void;
}

export class TurnReporter {
  readonly #options: ReporterOptions;
  readonly #ending = new AbortController();
  #isKnown = false;
  #sending: Promise<void> | undefined;
  #cancelTimer: (() => void) | undefined;
  #sentAt: number;
  #isUrgent = false;
  #isFinishing = false;

  constructor(options: ReporterOptions) {
    this.#options = options;
    this.#sentAt = options.clock.monotonic();
    // Somebody may send a mail to a session that runs on.
    if (this.#isRunning) this.#sendSoon();
  }

  /** True if somebody may be waiting for these changes, which are not applied yet. Changes that end the turn are reported with its end. */
  isUrgent(changes: readonly TurnChange[]): boolean {
    const { image } = this.#options;
    return changes.some((change) => {
      if (change.type !== 'write') return true;
      const { header, takesMail = [] } = change;
      if (header === undefined) return takesMail.length > 0;
      return header.isOpen && (takesMail.length > 0 || header.status !== image.header?.status);
    });
  }

  /** Reports what was applied: at once if it is urgent, otherwise later. Settles when the session may continue. */
  async note(isUrgent: boolean): Promise<void> {
    this.#plan(isUrgent);
    if (isUrgent) await this.#whenConfirmed();
  }

  /** Settles when the desk has confirmed everything up to now, and after a while in any case. */
  async #whenConfirmed(): Promise<void> {
    const { clock, image } = this.#options;
    const { reportCount } = image;
    const confirm = async (): Promise<void> => {
      while (image.confirmedCount < reportCount && this.#sending !== undefined) await this.#sending;
    };
    let cancel = (): void => undefined;
    await Promise.race([confirm(), new Promise<void>((resolve) => (cancel = clock.schedule(patienceMs, resolve)))]);
    cancel();
  }

  #plan(isUrgent: boolean): void {
    const { clock, countTurns } = this.#options;
    if (this.#isFinishing || !this.#hasNews) return;
    this.#isUrgent ||= isUrgent;
    if (isUrgent) this.#sendSoon();
    else if (this.#cancelTimer === undefined && this.#sending === undefined) {
      const dueAt = this.#sentAt + Math.max(stepReportMs, perSessionMs * countTurns());
      this.#cancelTimer = clock.schedule(Math.max(0, dueAt - clock.monotonic()), () => this.#sendSoon(), true);
    }
  }

  get #isRunning(): boolean {
    return this.#options.image.header?.isOpen === true;
  }

  /** True if the desk lacks changes, or does not know that this worker runs the session. */
  get #hasNews(): boolean {
    return this.#options.image.hasUnreported || (this.#isRunning && !this.#isKnown);
  }

  /** Reports the rest. Returns false if the desk has not confirmed everything in time. */
  async finish(): Promise<boolean> {
    this.#isFinishing = true;
    const cancel = this.#options.clock.schedule(patienceMs, () => this.stop());
    await this.#sending;
    if (!this.#ending.signal.aborted) await this.#send();
    cancel();
    this.stop();
    return !this.#options.image.hasUnreported;
  }

  /** Reports nothing more. */
  stop(): void {
    this.#cancelTimer?.();
    this.#ending.abort('the turn is over');
  }

  #sendSoon(): void {
    if (this.#sending !== undefined || this.#ending.signal.aborted) return;
    this.#sending = this.#send().finally(() => {
      this.#sending = undefined;
      this.#plan(this.#isUrgent);
    });
  }

  /** Sends what is not confirmed yet. Settles also if that fails. */
  async #send(): Promise<void> {
    const { clock, image, sessionId, send, worker, onProblem } = this.#options;
    const { signal } = this.#ending;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#isUrgent = false;
    this.#sentAt = clock.monotonic();
    const isRunning = this.#isRunning;
    const { parts, upTo } = image.listUnreported();
    try {
      // A worker that has nothing to report yet still says that it runs the session.
      const changes: readonly (readonly TurnChange[])[] =
        parts.length > 0 || !isRunning || this.#isKnown ? parts : [[{ type: 'write', after: image.head }]];
      let isStored = true;
      for (const part of changes) {
        isStored &&= await send({ sessionId, changes: part, ...(isRunning && { worker, isKnown: this.#isKnown }) }, signal);
        this.#isKnown = isRunning && isStored;
      }
      if (isStored) image.confirmReported(upTo);
    } catch (error) {
      // The next report has it again.
      this.#isKnown = false;
      if (!signal.aborted) onProblem(error);
    }
  }
}
