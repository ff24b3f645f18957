// The words of one step, as parts of a message.
// Owns:     which part is open, and what was sent of each kind.
// Does not: know steps or events.
// W1. Every part that was opened is closed.
import type { AnswerChunk } from './answer-types.ts';

type Kind = 'text' | 'reasoning';

export class StepText {
  readonly #key: string;
  #open: { readonly kind: Kind; readonly id: string } | undefined;
  #parts = 0;
  #sent = { text: '', reasoning: '' };

  constructor(key: string) {
    this.#key = key;
  }

  /** Everything that was sent of a kind. */
  get(kind: Kind): string {
    return this.#sent[kind];
  }

  /** Sends a text as it is. */
  say(kind: Kind, text: string): readonly AnswerChunk[] {
    if (text === '') return [];
    this.#sent = { ...this.#sent, [kind]: this.#sent[kind] + text };
    const opened = this.#open?.kind === kind ? [] : this.#start(kind);
    return [...opened, { type: `${kind}-delta`, id: this.#open?.id ?? '', delta: text }];
  }

  /** Closes the open part. */
  close(): readonly AnswerChunk[] {
    const open = this.#open;
    this.#open = undefined;
    return open === undefined ? [] : [{ type: `${open.kind}-end`, id: open.id }];
  }

  #start(kind: Kind): readonly AnswerChunk[] {
    const closed = this.close();
    this.#parts += 1;
    this.#open = { kind, id: `${this.#key}/${kind}/${this.#parts}` };
    return [...closed, { type: `${kind}-start`, id: this.#open.id }];
  }
}
