import type { TextAttempt, TextPiece } from '../core/open-text.ts';
import { addPiece } from '../core/open-text.ts';

/** A change of the text that a session writes in this process. */
export type TextChange =
  | { readonly type: 'pieces'; readonly pieces: readonly TextPiece[] }
  /** The attempt ended, and its step is to be run again. */
  | { readonly type: 'void' }
  /** The step whose attempts have this `since` is recorded, or waits. */
  | { readonly type: 'recorded'; readonly since: number };

/** The text of the steps that are open in this process, for readers in it: they need not wait until it is stored. */
export class OpenTextHub {
  readonly #texts = new Map<string, readonly TextPiece[]>();
  readonly #attempts = new Map<string, TextAttempt>();
  readonly #listeners = new Map<string, Set<(change: TextChange) => void>>();

  /** All that the current attempt has written so far; undefined if the session writes nothing here. */
  read(sessionId: string): readonly TextPiece[] | undefined {
    return this.#texts.get(sessionId);
  }

  /** The last attempt that began in this process at the step that is open. */
  findAttempt(sessionId: string): TextAttempt | undefined {
    return this.#attempts.get(sessionId);
  }

  /** Notes that an attempt has begun: none of its step has this number again. */
  begin(sessionId: string, attempt: TextAttempt): void {
    this.#attempts.set(sessionId, attempt);
  }

  /** Shows pieces of one attempt. Those of a later attempt take the place of the text before. */
  show(sessionId: string, pieces: readonly TextPiece[]): void {
    const before = this.#texts.get(sessionId) ?? [];
    const isSame = before.at(-1)?.attempt === pieces[0]?.attempt;
    this.#texts.set(sessionId, pieces.reduce(addPiece, isSame ? before : []));
    this.#notify(sessionId, { type: 'pieces', pieces });
  }

  /** The run has ended without a record of its step. */
  drop(sessionId: string): void {
    if (this.#texts.delete(sessionId)) this.#notify(sessionId, { type: 'void' });
  }

  /** The step is recorded, or waits. */
  record(sessionId: string, since: number): void {
    this.#texts.delete(sessionId);
    this.#attempts.delete(sessionId);
    this.#notify(sessionId, { type: 'recorded', since });
  }

  /** Forgets a session that was deleted. */
  forget(sessionId: string): void {
    this.#texts.delete(sessionId);
    this.#attempts.delete(sessionId);
  }

  /** Calls back at each change; returns its unsubscribe. */
  listen(sessionId: string, listener: (change: TextChange) => void): () => void {
    const listeners = this.#listeners.get(sessionId) ?? new Set();
    this.#listeners.set(sessionId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(sessionId);
    };
  }

  #notify(sessionId: string, change: TextChange): void {
    for (const listener of this.#listeners.get(sessionId) ?? []) listener(change);
  }
}
