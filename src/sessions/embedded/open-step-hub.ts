import type { OpenItem } from '../core/open-step.ts';
import { addItem, dropVoid, isSamePlace } from '../core/open-step.ts';
import type { OpenStepPlace } from '../core/session-runtime.ts';

/** A change of a step that is open in this process. */
export type OpenStepChange =
  | { readonly type: 'items'; readonly items: readonly OpenItem[] }
  /** The attempt ended, and its step is to be run again. */
  | { readonly type: 'void' }
  /** The step that is open after this entry is recorded, or waits. */
  | { readonly type: 'recorded'; readonly afterEntry: number };

/** The steps that are open in this process, for readers in it: they need not wait until something is stored. */
export class OpenStepHub {
  readonly #items = new Map<string, OpenItem[]>();
  readonly #attempts = new Map<string, OpenStepPlace>();
  readonly #listeners = new Map<string, Set<(change: OpenStepChange) => void>>();

  /** All that is valid of the current attempt; undefined if the session has no open step here. */
  read(sessionId: string): readonly OpenItem[] | undefined {
    const items = this.#items.get(sessionId);
    return items && dropVoid(items);
  }

  /** True if the session has an open step here. */
  has(sessionId: string): boolean {
    return this.#items.has(sessionId);
  }

  /** The last attempt that began in this process at the step that is open. */
  findAttempt(sessionId: string): OpenStepPlace | undefined {
    return this.#attempts.get(sessionId);
  }

  /** Notes that an attempt has begun: none of its step has this number again. */
  begin(sessionId: string, attempt: OpenStepPlace): void {
    this.#attempts.set(sessionId, attempt);
  }

  /** Shows items of one attempt. Those of a later attempt take the place of those before. */
  show(sessionId: string, items: readonly OpenItem[]): void {
    const [first] = items;
    const before = this.#items.get(sessionId)?.at(-1);
    if (first === undefined) return;
    if (before === undefined || !isSamePlace(before, first)) this.#items.set(sessionId, []);
    const shown = this.#items.get(sessionId) ?? [];
    for (const item of items) addItem(shown, item);
    this.#notify(sessionId, { type: 'items', items });
  }

  /** The run has ended without a record of its step. */
  drop(sessionId: string): void {
    if (this.#items.delete(sessionId)) this.#notify(sessionId, { type: 'void' });
  }

  /** The step is recorded, or waits. */
  record(sessionId: string, afterEntry: number): void {
    this.#items.delete(sessionId);
    this.#attempts.delete(sessionId);
    this.#notify(sessionId, { type: 'recorded', afterEntry });
  }

  /** Forgets a session that was deleted. */
  forget(sessionId: string): void {
    this.#items.delete(sessionId);
    this.#attempts.delete(sessionId);
  }

  /** Calls back at each change; returns its unsubscribe. */
  listen(sessionId: string, listener: (change: OpenStepChange) => void): () => void {
    const listeners = this.#listeners.get(sessionId) ?? new Set();
    this.#listeners.set(sessionId, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(sessionId);
    };
  }

  #notify(sessionId: string, change: OpenStepChange): void {
    for (const listener of this.#listeners.get(sessionId) ?? []) listener(change);
  }
}
