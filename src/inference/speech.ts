import type { JsonObject } from '../lib/index.ts';
import { createTextHold } from './leak-guard.ts';
import type { ModelDelta } from './model.ts';
import type { Draft, SpokenDraft } from './spoken-parts.ts';
import { createSpokenParts } from './spoken-parts.ts';
import type { SplitText } from './think-splitter.ts';
import { createThinkSplitter } from './think-splitter.ts';

interface SpeechOptions {
  /** The parts of the answer; what is said is added to them. */
  readonly drafts: Draft[];
  readonly holdsJson: boolean;
  readonly onDelta: ((delta: ModelDelta) => void) | undefined;
}

/** The text part that has not begun because its text may be thinking. */
interface WaitingPart {
  readonly id?: string | undefined;
  readonly providerMetadata?: JsonObject;
}

/** The words of an answer: thinking told apart, possible leaks held back, pieces told. */
export interface Speech {
  text(piece: string, id?: string, providerMetadata?: JsonObject): void;
  textEnd(id: string, providerMetadata?: JsonObject): void;
  reasoning(piece: string, id?: string, providerMetadata?: JsonObject): void;
  reasoningEnd(id: string, providerMetadata?: JsonObject): void;
  /** Something else begins, so what waited for more text is text. */
  settle(): void;
  /** True where all text so far may still be JSON, and none of it was told. */
  isHolding(): boolean;
  /** Tells what is still held back. */
  release(): void;
}

/** Listens to one answer. */
export function createSpeech({ drafts, holdsJson, onDelta }: SpeechOptions): Speech {
  const texts = createSpokenParts('text', drafts);
  const thoughts = createSpokenParts('reasoning', drafts);
  const splitter = createThinkSplitter();
  let isSplitting = true;
  let hold = holdsJson ? createTextHold() : undefined;
  let waiting: WaitingPart = {};

  const add = (draft: SpokenDraft, piece: string, providerMetadata: JsonObject | undefined): void => {
    draft.text += piece;
    if (providerMetadata !== undefined) draft.providerMetadata = providerMetadata;
  };
  const tell = (text: string): void => {
    if (text !== '') onDelta?.({ type: 'text', text });
  };
  const think = (piece: string, id?: string, providerMetadata?: JsonObject): void => {
    if (piece === '' && providerMetadata === undefined) return;
    add(thoughts.at(id), piece, providerMetadata);
    if (piece !== '') onDelta?.({ type: 'reasoning', text: piece });
  };
  const say = (piece: string, id: string | undefined, providerMetadata?: JsonObject): void => {
    if (piece === '' && providerMetadata === undefined) return;
    add(texts.at(id), piece, providerMetadata);
    if (hold === undefined) {
      tell(piece);
      return;
    }
    const shown = hold.take(piece);
    if (!hold.isHolding()) hold = undefined;
    tell(shown);
  };
  const split = ({ reasoning, text }: SplitText, part: WaitingPart): void => {
    think(reasoning);
    isSplitting = !splitter.isDone();
    waiting = part;
    // The part begins with its first words: thinking that is told apart stands before it.
    if (isSplitting && text === '') return;
    say(text, part.id, part.providerMetadata);
    waiting = {};
  };
  const settle = (): void => {
    if (!isSplitting || (splitter.isUntouched() && waiting.providerMetadata === undefined)) return;
    split(splitter.end(), waiting);
  };

  return {
    text: (piece, id, providerMetadata) => {
      if (!isSplitting) {
        say(piece, id, providerMetadata);
        return;
      }
      if (id !== waiting.id && waiting.providerMetadata !== undefined) say('', waiting.id, waiting.providerMetadata);
      const metadata = providerMetadata ?? (id === waiting.id ? waiting.providerMetadata : undefined);
      split(splitter.take(piece), { id, ...(metadata !== undefined && { providerMetadata: metadata }) });
    },
    textEnd: (id, providerMetadata) => {
      settle();
      if (providerMetadata !== undefined) say('', id, providerMetadata);
      texts.end(id);
    },
    reasoning: (piece, id, providerMetadata) => {
      settle();
      // Explicit reasoning has come: what looks like thinking in the text is text.
      isSplitting &&= piece === '';
      think(piece, id, providerMetadata);
    },
    reasoningEnd: (id, providerMetadata) => {
      think('', id, providerMetadata);
      thoughts.end(id);
    },
    settle,
    isHolding: () => hold !== undefined,
    release: () => {
      const held = hold?.release() ?? '';
      hold = undefined;
      tell(held);
    },
  };
}
