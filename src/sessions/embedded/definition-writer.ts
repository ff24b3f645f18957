import type { AgentDefinition } from '../../inference/index.ts';
import type { StoredDefinition } from '../core/sent-requests.ts';
import { toDefinitionNote, writeDefinition } from '../core/sent-requests.ts';
import type { Notes } from '../store/session-store.ts';

/** Stores the definitions of agents, each once in this process. They are notes that sessions share. */
export class DefinitionWriter {
  readonly #notes: Pick<Notes, 'write'>;
  readonly #known = new WeakMap<AgentDefinition, StoredDefinition>();
  readonly #stored = new Set<string>();
  readonly #waiting = new Map<string, string>();
  #flushing: Promise<void> | undefined;

  constructor(notes: Pick<Notes, 'write'>) {
    this.#notes = notes;
  }

  /** Returns the id of a definition, which the next flush stores. */
  define(definition: AgentDefinition): string {
    const known = this.#known.get(definition);
    if (known !== undefined) return known.id;
    const written = writeDefinition(definition);
    this.#known.set(definition, written);
    if (!this.#stored.has(written.id)) this.#waiting.set(written.id, written.body);
    return written.id;
  }

  /** True if there is nothing to store. */
  get isFlushed(): boolean {
    return this.#waiting.size === 0;
  }

  /** Stores what is not stored yet. Whoever calls while it does so waits for the same writes. */
  async flush(): Promise<void> {
    while (!this.isFlushed) {
      this.#flushing ??= this.#store();
      await this.#flushing;
    }
  }

  async #store(): Promise<void> {
    try {
      for (const [id, body] of this.#waiting) {
        // If another process has stored it, it is the same text: its id is the hash of it.
        await this.#notes.write({ name: toDefinitionNote(id), version: 0, body });
        this.#stored.add(id);
        this.#waiting.delete(id);
      }
    } finally {
      this.#flushing = undefined;
    }
  }
}
