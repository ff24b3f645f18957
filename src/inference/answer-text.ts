import type { JsonObject } from '../lib/index.ts';
import { cleanText } from '../lib/index.ts';
import type { Part, ReasoningPart, TextPart } from '../messages/index.ts';
import { TextHold } from './leak-guard.ts';
import type { ModelDelta } from './model.ts';
import type { SplitText, ThinkSplitter } from './think-splitter.ts';
import { createThinkSplitter } from './think-splitter.ts';

/** A text or reasoning part that grows. */
export interface TextDraft {
  readonly type: 'text' | 'reasoning';
  text: string;
  providerMetadata?: JsonObject;
}

/** A part of an answer that is being assembled. */
export type Draft = TextDraft | Exclude<Part, TextPart | ReasoningPart>;

/** Returns the finished part; undefined if it is empty. */
export function toFinishedPart(draft: Draft): Part | undefined {
  if (draft.type !== 'text' && draft.type !== 'reasoning') return draft;
  if (draft.text === '' && draft.providerMetadata === undefined) return undefined;
  return { ...draft, text: cleanText(draft.text) };
}

/** Pieces of one id are one part, however they mix with others; pieces without id are one as long as nothing comes between. */
class TextDrafts {
  readonly #type: TextDraft['type'];
  readonly #drafts: Draft[];
  readonly #open = new Map<string, TextDraft>();
  #last: TextDraft | undefined;
  #lastId: string | undefined;

  constructor(type: TextDraft['type'], drafts: Draft[]) {
    this.#type = type;
    this.#drafts = drafts;
  }

  /** Returns the part that takes the next piece of this id. */
  at(id: string | undefined): TextDraft {
    if (this.#last !== undefined && id === this.#lastId && (id !== undefined || this.#drafts.at(-1) === this.#last)) return this.#last;
    let draft = id === undefined ? undefined : this.#open.get(id);
    if (draft === undefined) {
      draft = { type: this.#type, text: '' };
      this.#drafts.push(draft);
      if (id !== undefined) this.#open.set(id, draft);
    }
    [this.#last, this.#lastId] = [draft, id];
    return draft;
  }

  /** Ends a part; later text with this id starts a new one. */
  end(id: string): void {
    this.#open.delete(id);
    if (id === this.#lastId) this.#last = undefined;
  }
}

interface AnswerTextOptions {
  /** Parts of the answer; text and reasoning are added to them. */
  readonly drafts: Draft[];
  /** True if text that consists only of JSON is held back: it may repeat a call. */
  readonly holdsJson: boolean;
  readonly emit: (delta: ModelDelta) => void;
}

/** The text part that has not begun because its text may be thinking. */
interface WaitingPart {
  readonly id?: string | undefined;
  readonly providerMetadata?: JsonObject | undefined;
}

const noText: SplitText = { reasoning: '', text: '' };

/** The text and reasoning of one answer: thinking inside the text is split off, and JSON is held back. */
export class AnswerText {
  readonly #options: AnswerTextOptions;
  readonly #parts: { -readonly [Type in TextDraft['type']]?: TextDrafts } = {};
  /** True as long as the text may begin with thinking. */
  #maySplit = true;
  #splitter: ThinkSplitter | undefined;
  #waiting: WaitingPart = {};
  /** True as long as all text so far may consist only of JSON. */
  #mayBeJson: boolean;
  #hold: TextHold | undefined;

  constructor(options: AnswerTextOptions) {
    this.#options = options;
    this.#mayBeJson = options.holdsJson;
  }

  /** True if all text so far is JSON, whole or cut off, and none of it was emitted. */
  get isOnlyJson(): boolean {
    return this.#hold?.isOnlyJson === true;
  }

  addText(piece: string, id?: string, providerMetadata?: JsonObject): void {
    if (!this.#maySplit) {
      this.#addText(piece, id, providerMetadata);
      return;
    }
    const { id: waitingId, providerMetadata: waitingMetadata } = this.#waiting;
    if (id !== waitingId && waitingMetadata !== undefined) this.#addText('', waitingId, waitingMetadata);
    this.#addSplit(this.#split(piece), { id, providerMetadata: providerMetadata ?? (id === waitingId ? waitingMetadata : undefined) });
  }

  endText(id: string, providerMetadata?: JsonObject): void {
    this.settle();
    if (providerMetadata !== undefined) this.#addText('', id, providerMetadata);
    this.#parts.text?.end(id);
  }

  addReasoning(piece: string, id?: string, providerMetadata?: JsonObject): void {
    this.settle();
    // Explicit reasoning has come: what looks like thinking in the text is text.
    this.#maySplit &&= piece === '';
    this.#add({ type: 'reasoning', text: piece }, id, providerMetadata);
  }

  endReasoning(id: string, providerMetadata?: JsonObject): void {
    this.#add({ type: 'reasoning', text: '' }, id, providerMetadata);
    this.#parts.reasoning?.end(id);
  }

  /** Something else begins: what waited for more text is text. */
  settle(): void {
    if (!this.#maySplit || (this.#splitter === undefined && this.#waiting.providerMetadata === undefined)) return;
    this.#maySplit = false;
    this.#addSplit(this.#splitter?.end() ?? noText, this.#waiting);
  }

  /** Emits what is still held back. */
  release(): void {
    const text = this.#hold?.release() ?? '';
    this.#hold = undefined;
    this.#mayBeJson = false;
    this.#emitText(text);
  }

  // Thinking begins with a tag: text that begins otherwise is not looked at.
  #split(piece: string): SplitText {
    if (this.#splitter === undefined && piece === '') return noText;
    if (this.#splitter === undefined && !/^\s*(?:<|$)/.test(piece)) {
      this.#maySplit = false;
      return { reasoning: '', text: piece };
    }
    this.#splitter ??= createThinkSplitter();
    const split = this.#splitter.take(piece);
    this.#maySplit = !this.#splitter.isDone();
    return split;
  }

  #addSplit({ reasoning, text }: SplitText, part: WaitingPart): void {
    this.#add({ type: 'reasoning', text: reasoning });
    // The part begins with its first words: thinking that is split off stands before it.
    const isWaiting = this.#maySplit && text === '';
    this.#waiting = isWaiting ? part : {};
    if (!isWaiting) this.#addText(text, part.id, part.providerMetadata);
  }

  #addText(piece: string, id: string | undefined, providerMetadata?: JsonObject): void {
    this.#add({ type: 'text', text: piece }, id, providerMetadata);
  }

  #add({ type, text }: Readonly<TextDraft>, id?: string, providerMetadata?: JsonObject): void {
    if (text === '' && providerMetadata === undefined) return;
    const draft = (this.#parts[type] ??= new TextDrafts(type, this.#options.drafts)).at(id);
    draft.text += text;
    if (providerMetadata !== undefined) draft.providerMetadata = providerMetadata;
    if (type === 'text') this.#emitText(this.#holdBack(text));
    else if (text !== '') this.#options.emit({ type, text });
  }

  // Objects, arrays and fences only: text that begins otherwise is not held back.
  #holdBack(piece: string): string {
    if (!this.#mayBeJson || piece === '') return piece;
    this.#hold ??= /^\s*(?:[{[`]|$)/.test(piece) ? new TextHold() : undefined;
    const shown = this.#hold?.take(piece) ?? piece;
    this.#mayBeJson = this.#hold?.isHolding === true;
    if (!this.#mayBeJson) this.#hold = undefined;
    return shown;
  }

  #emitText(text: string): void {
    if (text !== '') this.#options.emit({ type: 'text', text });
  }
}
