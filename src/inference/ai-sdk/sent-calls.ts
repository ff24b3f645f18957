// The calls of a prompt
// Owns:     the id under which each call is sent, and which call a result belongs to.
// Does not: change the record: it keeps the original ids.
// C1. An id that the provider accepts is sent as it is, unless another one was converted to it before.
// C2. Two different ids are never sent as one.
// C3. What an id becomes depends on the calls before it only, so a longer conversation begins with the same prompt.
// C4. A provider's own calls keep their ids.
import type { JsonObject } from '../../lib/index.ts';
import type { ToolCallPart, ToolResultPart } from '../../messages/index.ts';
import type { IdForm } from './call-names.ts';

interface SentCall {
  /** Undefined if only the provider has used the id so far. */
  readonly sentId: string | undefined;
  /** Metadata of the last call with this id. */
  readonly metadata: JsonObject | undefined;
}

interface Change {
  readonly id: string;
  readonly before: SentCall | undefined;
  /** The sent id that was converted for this change. */
  readonly converted: string | undefined;
}

export class SentCalls {
  readonly #form: IdForm;
  /** By original id. */
  readonly #calls = new Map<string, SentCall>();
  /** Sent ids that were converted from others; an id that is sent as it is counts as taken by its call. */
  readonly #converted = new Set<string>();
  readonly #changes: Change[] = [];

  constructor(form: IdForm) {
    this.#form = form;
  }

  /** Adds a call. Returns the id under which it is sent. */
  addCall({ toolCallId: id, providerExecuted = false, providerMetadata: metadata }: ToolCallPart): string {
    const sentId = this.#set(id, providerExecuted, metadata);
    return providerExecuted ? id : sentId;
  }

  /** Returns the id under which a result is sent: that of its call. */
  getResultId({ toolCallId: id, providerExecuted = false }: ToolResultPart): string {
    return providerExecuted ? id : (this.#calls.get(id)?.sentId ?? this.#set(id, false, this.getMetadata(id)));
  }

  /** Returns the metadata of the nearest earlier call with this id. */
  getMetadata(id: string): JsonObject | undefined {
    return this.#calls.get(id)?.metadata;
  }

  /** Returns a mark to which the calls can be rewound. */
  mark(): number {
    return this.#changes.length;
  }

  /** Forgets the calls since a mark. */
  rewind(mark: number): void {
    while (this.#changes.length > mark) {
      const change = this.#changes.pop();
      if (change === undefined) return;
      const { id, before, converted } = change;
      if (before === undefined) this.#calls.delete(id);
      else this.#calls.set(id, before);
      if (converted !== undefined) this.#converted.delete(converted);
    }
  }

  #set(id: string, isProviders: boolean, metadata: JsonObject | undefined): string {
    const before = this.#calls.get(id);
    const known = before?.sentId;
    const sentId = known ?? (isProviders ? undefined : this.#chooseId(id));
    const converted = known === undefined && sentId !== id ? sentId : undefined;
    this.#calls.set(id, { sentId, metadata });
    if (converted !== undefined) this.#converted.add(converted);
    this.#changes.push({ id, before, converted });
    return sentId ?? id;
  }

  #isTaken(sentId: string): boolean {
    const call = this.#calls.get(sentId);
    return this.#converted.has(sentId) || (call !== undefined && (call.sentId ?? sentId) === sentId);
  }

  #chooseId(id: string): string {
    // An id that only the provider has used so far is this one's too.
    if (this.#form.isValid(id) && (this.#calls.has(id) || !this.#converted.has(id))) return id;
    let attempt = 1;
    let sentId = this.#form.convert(id, attempt);
    while (this.#isTaken(sentId)) {
      attempt += 1;
      sentId = this.#form.convert(id, attempt);
    }
    return sentId;
  }
}
