// Actions that other processes have left for the worker.
// Owns:     when the mailbox is read, and the order in which its actions are applied.
// Does not: know what an action does.
// R1. Each mail is applied once: its removal is part of the write that applies it.
// R2. The mails of one session are applied in the order in which they were posted. Other sessions do not wait for them. Erasing a
//     message waits until the session rests; the mails behind it do not, or nobody could cancel the run.
// R3. A mail that cannot be applied is answered with the error. One that could not be tried is tried again, before those behind it; if
//     the runtime ends first, it stays for the next one.
// R4. A mail whose row is damaged is not applied. It is reported once, and left for its sender, who finds it so and posts it again.
// R5. The mailbox is read again after a second, even if the store said nothing.
import type { Clock } from '../../lib/index.ts';
import { SteplineError } from '../../lib/index.ts';
import type { MailedAction } from '../core/mail.ts';
import { createDamagedMailError, isErasure, readMailBody } from '../core/mail.ts';
import { isStoreClosed } from '../core/store-unavailable-error.ts';
import { toWire } from '../core/wire-errors.ts';
import type { Mail, SessionStore } from '../store/session-store.ts';
import type { StoreWatcher } from './store-watcher.ts';

/** Time that a refusal is kept for whoever asked. */
const keepRepliesMs = 24 * 3_600_000;

/** Time between two looks for refusals that are older than that. */
const dropRepliesEveryMs = 3_600_000;

/** Longest time without another look. */
const lookMs = 1000;

/** Delay before a mail that could not be tried is tried again. */
const retryMs = 1000;

/** Errors that say nothing about the action itself. */
const passingCodes: readonly string[] = ['store-unavailable', 'store-fenced', 'runtime-closed'];

const isPassing = (error: unknown): boolean => SteplineError.is(error) && passingCodes.includes(error.code);

/** A mail that was read. */
export interface OpenedMail extends MailedAction {
  readonly mail: Mail;
}

/** Services the host provides to its mail room. */
export interface MailServices {
  readonly store: SessionStore;
  readonly watcher: StoreWatcher;
  readonly clock: Clock;
  readonly closing: AbortSignal;
  /** Applies an action. Settles once it is stored, and returns true if the mail was removed with it. */
  apply(opened: OpenedMail): Promise<boolean>;
  readonly report: (error: unknown, where: string) => void;
}

export class MailRoom {
  readonly #services: MailServices;
  readonly #epoch: number;
  /** The last mail of each session that is being applied. */
  readonly #busy = new Map<string, Promise<void>>();
  /** Mails that are being applied, and those that are done but may be in the list that is being read. */
  readonly #taken = new Set<number>();
  readonly #done = new Set<number>();
  /** Damaged mails that were reported. */
  readonly #reported = new Set<string>();
  /** Cancels the timers that are set. */
  readonly #timers = new Set<() => void>();
  #isReading = false;
  #isStoreClosed = false;
  #hasMore = false;

  constructor(services: MailServices, epoch: number) {
    this.#services = services;
    this.#epoch = epoch;
  }

  /** Starts reading: now, after each change, and now and then. */
  start(): void {
    const { watcher, closing } = this.#services;
    const unlisten = watcher.listen(({ hasMail }) => {
      if (hasMail) this.#look();
    });
    closing.addEventListener('abort', () => {
      unlisten();
      for (const cancel of this.#timers) cancel();
    });
    this.#repeat(lookMs, () => this.#look());
    this.#repeat(dropRepliesEveryMs, () => void this.#dropReplies().catch(() => undefined));
  }

  /** Does something now, and again each time that the time is over. */
  #repeat(everyMs: number, call: () => void): void {
    call();
    this.#schedule(everyMs, () => this.#repeat(everyMs, call));
  }

  #schedule(ms: number, call: () => void): void {
    const { clock, closing } = this.#services;
    if (closing.aborted || this.#isStoreClosed) return;
    const cancel = clock.schedule(
      ms,
      () => {
        this.#timers.delete(cancel);
        call();
      },
      true,
    );
    this.#timers.add(cancel);
  }

  #look(): void {
    this.#hasMore = true;
    if (!this.#isReading) void this.#readAll();
  }

  async #readAll(): Promise<void> {
    const { closing, report } = this.#services;
    this.#isReading = true;
    while (this.#hasMore && !closing.aborted) {
      this.#hasMore = false;
      try {
        await this.#readOnce();
      } catch (error) {
        // The host closed the store before the runtime: there is nothing more to read. Else it is read again after a second.
        if (isStoreClosed(error)) this.#isStoreClosed = true;
        else report(error, 'the mailbox');
      }
    }
    // Nothing is awaited since the last check: a change that comes now starts another look.
    this.#isReading = false;
    this.#forgetDone();
  }

  async #readOnce(): Promise<void> {
    const { store } = this.#services;
    // These are not in the store any more.
    this.#forgetDone();
    let after = 0;
    for (;;) {
      const mails = await store.inbox.read({ isWaiting: true, after, includesDamaged: true });
      for (const mail of mails)
        if (mail.damage === undefined) this.#take(mail);
        else this.#reportDamage(mail);
      const last = mails.at(-1);
      // The number of a damaged one may be wrong.
      if (last === undefined || last.num <= after) return;
      after = last.num;
    }
  }

  #reportDamage(mail: Mail): void {
    const name = JSON.stringify([mail.num, mail.sessionId, mail.requestId]);
    if (this.#reported.has(name)) return;
    this.#reported.add(name);
    this.#services.report(createDamagedMailError(mail), 'the mailbox');
  }

  #forgetDone(): void {
    for (const num of this.#done) this.#taken.delete(num);
    this.#done.clear();
  }

  #take(mail: Mail): void {
    const { num, sessionId } = mail;
    if (this.#taken.has(num) || this.#services.closing.aborted) return;
    this.#taken.add(num);
    const before = this.#busy.get(sessionId) ?? Promise.resolve();
    const applied = before
      .then(() => this.#apply(mail))
      .finally(() => {
        if (this.#isReading) this.#done.add(num);
        else this.#taken.delete(num);
        if (this.#busy.get(sessionId) === applied) this.#busy.delete(sessionId);
      });
    if (!isErasure(mail)) this.#busy.set(sessionId, applied);
  }

  /** Applies a mail, or answers it. Tries until that is stored, or the runtime ends. Never rejects. */
  async #apply(mail: Mail): Promise<void> {
    const { closing, report } = this.#services;
    while (!closing.aborted) {
      try {
        await this.#tryToApply(mail);
        return;
      } catch (error) {
        if (!isPassing(error)) report(error, `a mail to session ${mail.sessionId}`);
        await this.#wait(retryMs);
      }
    }
  }

  /** Throws if nothing could be stored. */
  async #tryToApply(mail: Mail): Promise<void> {
    const { store } = this.#services;
    const { num } = mail;
    const epoch = this.#epoch;
    try {
      const isRemoved = await this.#services.apply({ mail, ...readMailBody(mail.body) });
      if (!isRemoved) await store.inbox.answer({ epoch, num });
    } catch (error) {
      if (isPassing(error)) throw error;
      await store.inbox.answer({ epoch, num, reply: JSON.stringify(toWire(error)) });
    }
  }

  /** Settles after a time, or when the runtime ends. */
  #wait(ms: number): Promise<void> {
    const { closing } = this.#services;
    return new Promise((resolve) => {
      const end = (): void => {
        closing.removeEventListener('abort', end);
        resolve();
      };
      closing.addEventListener('abort', end);
      if (closing.aborted) end();
      else this.#schedule(ms, end);
    });
  }

  /** Removes refusals that nobody has asked for in a day. */
  async #dropReplies(): Promise<void> {
    const { store, clock, closing } = this.#services;
    let after = 0;
    for (;;) {
      const mails = await store.inbox.read({ isWaiting: false, after });
      for (const { num, at } of mails)
        if (at < clock.now() - keepRepliesMs && !closing.aborted) await store.inbox.answer({ epoch: this.#epoch, num });
      const last = mails.at(-1);
      if (last === undefined) return;
      after = last.num;
    }
  }
}
