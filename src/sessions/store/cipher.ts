// Encrypted texts.
// E1. Each has a mark in front, so that a text from before is never taken for one of them.
// E2. A text that cannot be decrypted is damage of its session. An error of Stepline's own says something else, and is passed on.
import type { EffectRow } from '../../journal/index.ts';
import { omitUndefined, SteplineError } from '../../lib/index.ts';
import { SessionDamagedError, StoreUnavailableError } from '../core/errors.ts';
import type { LogEntry, SessionHeader } from './session-store.ts';

const mark = 'enc:1:';

/** A pair of functions that encrypt a text and decrypt it again. */
export interface Encryption {
  /** Should return a different text each time. */
  readonly encrypt: (text: string) => string | Promise<string>;
  /** Throws if the key is wrong or the text was changed. If the key cannot be had right now, throw a `StoreUnavailableError`. */
  readonly decrypt: (text: string) => string | Promise<string>;
  /** Reads texts that were stored before they were encrypted, too. @default false */
  readonly allowsPlain?: boolean;
}

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export class Cipher {
  readonly #encryption: Encryption;

  constructor(encryption: Encryption) {
    this.#encryption = encryption;
  }

  static isEncrypted(text: string): boolean {
    return text.startsWith(mark);
  }

  async encrypt(text: string): Promise<string> {
    try {
      return `${mark}${await this.#encryption.encrypt(text)}`;
    } catch (error) {
      throw SteplineError.is(error) ? error : new StoreUnavailableError('failed', `encrypt() failed: ${describe(error)}`, error);
    }
  }

  /** Decrypts a text; `toError` returns the error for one that cannot be read, from the reason. */
  async decrypt(text: string, toError: (why: string, cause?: unknown) => Error): Promise<string> {
    const { allowsPlain = false, decrypt } = this.#encryption;
    if (!Cipher.isEncrypted(text)) {
      if (allowsPlain) return text;
      throw toError('is not encrypted; pass allowsPlain: true to read data from before the encryption');
    }
    try {
      return await decrypt(text.slice(mark.length));
    } catch (error) {
      throw SteplineError.is(error) ? error : toError('cannot be decrypted: the key is wrong, or the text was changed', error);
    }
  }

  /** Decrypts a text of a session; `what` names it. */
  decryptSessionText(sessionId: string, what: string, text: string): Promise<string> {
    return this.decrypt(text, (why, cause) => new SessionDamagedError(sessionId, `${what} ${why}`, cause));
  }

  async encryptHeader(header: SessionHeader): Promise<SessionHeader> {
    const copy = { ...header, tags: [...header.tags] };
    return { ...copy, details: await this.encrypt(copy.details) };
  }

  async decryptHeader(header: SessionHeader): Promise<SessionHeader> {
    return { ...header, details: await this.decryptSessionText(header.id, 'its header', header.details) };
  }

  /** Encrypts the texts of an entry, whole or as a rewrite has it. */
  async encryptEntry<Entry extends Pick<LogEntry, 'body' | 'events'>>(entry: Entry): Promise<Entry> {
    const copy = { ...entry };
    const [body, events] = await Promise.all([this.encrypt(copy.body), copy.events === undefined ? undefined : this.encrypt(copy.events)]);
    return { ...copy, body, ...omitUndefined({ events }) };
  }

  async decryptEntry(sessionId: string, entry: LogEntry): Promise<LogEntry> {
    const { n, body: text, events: eventsText } = entry;
    const [body, events] = await Promise.all([
      this.decryptSessionText(sessionId, `entry ${n}`, text),
      eventsText === undefined ? undefined : this.decryptSessionText(sessionId, `entry ${n}`, eventsText),
    ]);
    return { ...entry, body, ...omitUndefined({ events }) };
  }

  async encryptEffect(row: EffectRow): Promise<EffectRow> {
    const copy = { ...row };
    return { ...copy, body: await this.encrypt(copy.body) };
  }

  async decryptEffect(sessionId: string, row: EffectRow): Promise<EffectRow> {
    return { ...row, body: await this.decryptSessionText(sessionId, `the ${row.phase} of "${row.key}"`, row.body) };
  }
}
