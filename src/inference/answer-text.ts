import type { JsonObject } from '../lib/index.ts';
import { cleanText } from '../lib/index.ts';
import type { Part, ReasoningPart, TextPart } from '../messages/index.ts';
import { findLeak, findMarkup, isOnlyMarkup, removeMarkup } from './call-markup.ts';
import { JsonText } from './leak-guard.ts';
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
  /** True if JSON and the markup of calls are held back: they may repeat a call. */
  readonly holdsCalls: boolean;
  readonly emit: (delta: ModelDelta) => void;
}

/** The text part that has not begun because its text may be thinking. */
interface WaitingPart {
  readonly id?: string | undefined;
  readonly providerMetadata?: JsonObject | undefined;
}

const noText: SplitText = { reasoning: '', text: '' };

/** The text and reasoning of one answer: thinking inside the text is split off, and text that may repeat a call is held back. */
export class AnswerText {
  readonly #options: AnswerTextOptions;
  readonly #parts: { -readonly [Type in TextDraft['type']]?: TextDrafts } = {};
  /** True as long as the text may begin with thinking. */
  #maySplit = true;
  #splitter: ThinkSplitter | undefined;
  #waiting: WaitingPart = {};
  /** True as long as all text so far may consist only of JSON. */
  #mayBeJson: boolean;
  #json: JsonText | undefined;
  /** Number of characters of each text part that were emitted; undefined if text is not held back. */
  readonly #emitted: Map<TextDraft, number> | undefined;
  /** The text part that ends with what may be the beginning of markup. */
  #opening: TextDraft | undefined;
  /** True once markup has come: the end of the answer decides if it is shown. */
  #isHoldingRest = false;

  constructor(options: AnswerTextOptions) {
    this.#options = options;
    this.#mayBeJson = options.holdsCalls;
    this.#emitted = options.holdsCalls ? new Map() : undefined;
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

  /** Ends the text. Beside a call of ours, JSON and markup that repeat it are dropped; what else is still held back is emitted. */
  end({ hasCall }: { readonly hasCall: boolean }): void {
    if (this.#emitted === undefined) return;
    const drafts = this.#listTexts();
    if (hasCall) this.#dropCalls(drafts);
    for (const draft of drafts) this.#emitText(draft, draft.text.length);
  }

  #dropCalls(drafts: readonly TextDraft[]): void {
    const isOnlyCalls = this.#emitted?.size === 0 && isOnlyMarkup(drafts.map(({ text }) => text).join(''));
    if (!isOnlyCalls && !this.#isHoldingRest) return;
    for (const draft of drafts) {
      draft.text = isOnlyCalls ? '' : removeMarkup(draft.text);
      if (isOnlyCalls) delete draft.providerMetadata;
    }
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
    if (text === '') return;
    if (type === 'reasoning' || this.#emitted === undefined) this.#options.emit({ type, text });
    else if (!this.#isHeldAsJson(text)) this.#emitProse(draft, text);
  }

  // Objects, arrays and fences only: text that begins otherwise is not held back.
  #isHeldAsJson(piece: string): boolean {
    if (!this.#mayBeJson) return false;
    this.#json ??= /^\s*(?:[{[`]|$)/.test(piece) ? new JsonText() : undefined;
    this.#mayBeJson = this.#json?.take(piece).isPossible === true;
    return this.#mayBeJson;
  }

  /** Emits the text so far, up to where markup begins or may begin. */
  #emitProse(current: TextDraft, piece: string): void {
    // Behind a beginning that its part may still complete, nothing is emitted: pieces keep their order.
    if (this.#opening !== undefined && this.#opening !== current) this.#isHoldingRest = true;
    if (this.#isHoldingRest) return;
    const isFirst = this.#emitted?.size === 0;
    // Most pieces hold no beginning: the text before them is not looked at again.
    if (!isFirst && this.#opening === undefined && findMarkup(piece) === undefined) {
      this.#emitText(current, current.text.length, piece);
      return;
    }
    const drafts = isFirst ? this.#listTexts() : [current];
    if (isFirst && this.#mayBeOnlyCalls(drafts)) return;
    for (const draft of drafts) {
      const markup = findLeak(draft.text, this.#emitted?.get(draft));
      this.#emitText(draft, markup?.at ?? draft.text.length);
      this.#opening = markup === undefined ? undefined : draft;
      this.#isHoldingRest = markup !== undefined && (markup.isWhole || draft !== current);
      if (this.#isHoldingRest) return;
    }
  }

  /** True if the text has markup with nothing but JSON and fences before it. */
  #mayBeOnlyCalls(drafts: readonly TextDraft[]): boolean {
    const text = drafts.map((draft) => draft.text).join('');
    const markup = findMarkup(text);
    if (markup === undefined || !new JsonText().take(text.slice(0, markup.at)).isPossible) return false;
    this.#isHoldingRest = markup.isWhole;
    return true;
  }

  #listTexts(): readonly TextDraft[] {
    return this.#options.drafts.filter((draft): draft is TextDraft => draft.type === 'text');
  }

  #emitText(draft: TextDraft, end: number, text = draft.text.slice(this.#emitted?.get(draft) ?? 0, end)): void {
    if (text === '') return;
    this.#emitted?.set(draft, end);
    this.#options.emit({ type: 'text', text });
  }
}
