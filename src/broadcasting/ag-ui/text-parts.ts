// The texts of a run: what the assistant says, and what it thinks.
// Owns:     which text is open, and how much of it was sent.
// Does not: know events of Stepline.
// T1. A text is sent once: what was sent while it was written is not sent again when its step is recorded.
// T2. A text that was taken back is not continued. It gets another id, unless the reader is sent a snapshot without it.
import type { Redactor } from '../../lib/index.ts';
import type { AgUiEvent } from './ag-ui-event.ts';
import { toReasoningId } from './ag-ui-ids.ts';

/** Author of a text. */
export interface TextAuthor {
  readonly subagentRunId?: string;
  readonly name?: string;
}

interface SentText {
  readonly id: string;
  readonly author: TextAuthor;
  /** Everything of it that was sent, before secrets were removed. */
  sent: string;
  isOpen: boolean;
}

export interface TextPartsOptions {
  readonly redactor: Redactor;
  /** True if the reader is sent a snapshot whenever a text is taken back. */
  readonly hasSnapshots: boolean;
}

const toTag = ({ subagentRunId }: TextAuthor): { readonly subagentRunId?: string } =>
  subagentRunId === undefined ? {} : { subagentRunId };

export class TextParts {
  readonly #options: TextPartsOptions;
  readonly #texts = new Map<string, SentText>();
  readonly #reasoning = new Map<string, SentText>();
  #voids = 0;

  constructor(options: TextPartsOptions) {
    this.#options = options;
  }

  /** Notes a text that the reader has. */
  note(messageId: string, sent: string): void {
    this.#texts.set(messageId, { id: messageId, author: {}, sent, isOpen: false });
  }

  /** Id under which a message is sent. */
  getId(messageId: string): string {
    return this.#texts.get(messageId)?.id ?? messageId;
  }

  /** Sends a piece of a text. */
  *write(messageId: string, piece: string, author: TextAuthor): Generator<AgUiEvent, void, undefined> {
    if (piece === '') return;
    yield* this.endReasoning(messageId);
    const text = this.#texts.get(messageId) ?? this.#create(messageId, author);
    const tag = toTag(text.author);
    if (!text.isOpen) {
      const { name } = text.author;
      text.isOpen = true;
      yield { type: 'TEXT_MESSAGE_START', messageId: text.id, role: 'assistant', ...(name !== undefined && { name }), ...tag };
    }
    text.sent += piece;
    yield { type: 'TEXT_MESSAGE_CONTENT', messageId: text.id, delta: this.#options.redactor.text(piece), ...tag };
  }

  /** Sends a piece of reasoning. */
  *reason(messageId: string, piece: string, author: TextAuthor): Generator<AgUiEvent, void, undefined> {
    if (piece === '') return;
    const known = this.#reasoning.get(messageId);
    const id = known?.id ?? toReasoningId(this.getId(messageId));
    const tag = toTag(author);
    if (known?.isOpen !== true) {
      this.#reasoning.set(messageId, { id, author, sent: '', isOpen: true });
      yield { type: 'REASONING_START', messageId: id, ...tag };
      yield { type: 'REASONING_MESSAGE_START', messageId: id, role: 'reasoning', ...tag };
    }
    yield { type: 'REASONING_MESSAGE_CONTENT', messageId: id, delta: this.#options.redactor.text(piece), ...tag };
  }

  *endReasoning(messageId: string): Generator<AgUiEvent, void, undefined> {
    const reasoning = this.#reasoning.get(messageId);
    if (reasoning?.isOpen !== true) return;
    reasoning.isOpen = false;
    const tag = toTag(reasoning.author);
    yield { type: 'REASONING_MESSAGE_END', messageId: reasoning.id, ...tag };
    yield { type: 'REASONING_END', messageId: reasoning.id, ...tag };
  }

  *end(messageId: string): Generator<AgUiEvent, void, undefined> {
    yield* this.endReasoning(messageId);
    const text = this.#texts.get(messageId);
    if (text?.isOpen !== true) return;
    text.isOpen = false;
    yield { type: 'TEXT_MESSAGE_END', messageId: text.id, ...toTag(text.author) };
  }

  /** Sends what is missing of a text that is recorded. Returns false if what was sent is not its beginning. */
  *settle(messageId: string, whole: string, author: TextAuthor): Generator<AgUiEvent, boolean, undefined> {
    const sent = this.#texts.get(messageId)?.sent ?? '';
    // A text of an earlier run is known without its secrets.
    const isKnown = sent === this.#options.redactor.text(whole);
    if (isKnown || whole.startsWith(sent)) {
      yield* this.write(messageId, isKnown ? '' : whole.slice(sent.length), author);
      yield* this.end(messageId);
      return true;
    }
    yield* this.takeBack(messageId);
    return false;
  }

  /** Takes back what was sent of a text. Returns the id under which it was sent; undefined if nothing was. */
  *takeBack(messageId: string): Generator<AgUiEvent, string | undefined, undefined> {
    yield* this.end(messageId);
    const text = this.#texts.get(messageId);
    if (text === undefined || text.sent === '') return undefined;
    this.#voids += 1;
    if (this.#options.hasSnapshots) this.#texts.delete(messageId);
    else this.#texts.set(messageId, { ...text, id: `${messageId}#${this.#voids + 1}`, sent: '' });
    yield { type: 'CUSTOM', name: 'stepline.void', value: { messageId: text.id }, ...toTag(text.author) };
    return text.id;
  }

  /** Ends the messages that are chosen. */
  *endAll(isMeant: (messageId: string) => boolean): Generator<AgUiEvent, void, undefined> {
    for (const messageId of new Set([...this.#reasoning.keys(), ...this.#texts.keys()])) if (isMeant(messageId)) yield* this.end(messageId);
  }

  /** Takes back everything of the messages that are chosen. Returns whether there was anything. */
  *takeBackAll(isMeant: (messageId: string) => boolean): Generator<AgUiEvent, boolean, undefined> {
    let isAny = false;
    for (const messageId of [...this.#texts.keys()].filter(isMeant)) isAny = (yield* this.takeBack(messageId)) !== undefined || isAny;
    return isAny;
  }

  #create(messageId: string, author: TextAuthor): SentText {
    const created: SentText = { id: messageId, author, sent: '', isOpen: false };
    this.#texts.set(messageId, created);
    return created;
  }
}
