// The words of one step, as parts of a message.
// Owns:     which part is open, and what was sent of each kind.
// Does not: know steps or events.
// W1. Every part that was opened is closed.
// W2. Nothing is sent of a text that may become the JSON of a call, until it is known what it is.
import type { AnswerChunk } from './answer-types.ts';

type Kind = 'text' | 'reasoning';

const isJsonLike = (text: string): boolean => /^\s*(?:```\w*\s*)?[{[]/.test(text);

/** True if nothing but space has come, or the beginning of a fence. */
const isUndecided = (text: string): boolean => /^\s*(?:`{1,2}|```\w*\s*)?$/.test(text);

export class StepText {
  readonly #key: string;
  #open: { readonly kind: Kind; readonly id: string } | undefined;
  #parts = 0;
  #held = '';
  #sent = { text: '', reasoning: '' };

  constructor(key: string) {
    this.#key = key;
  }

  /** Everything that was sent of a kind, or is held back. */
  get(kind: Kind): string {
    return kind === 'text' ? this.#sent.text + this.#held : this.#sent.reasoning;
  }

  /** Adds a piece that a model has just written. */
  stream(kind: Kind, text: string): readonly AnswerChunk[] {
    if (kind === 'reasoning' || this.#sent.text !== '') return this.say(kind, text);
    this.#held += text;
    return isJsonLike(this.#held) || isUndecided(this.#held) ? [] : this.release();
  }

  /** Sends what was held back. */
  release(): readonly AnswerChunk[] {
    const held = this.#held;
    this.#held = '';
    return this.say('text', held);
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
