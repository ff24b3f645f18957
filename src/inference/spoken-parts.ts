import type { JsonObject } from '../lib/index.ts';
import type { Part, ReasoningPart, TextPart } from '../messages/index.ts';
import { cleanText } from './clean-text.ts';

/** A text or reasoning part that grows. */
export interface SpokenDraft {
  readonly type: 'text' | 'reasoning';
  text: string;
  providerMetadata?: JsonObject;
}

/** A part of an answer that is being assembled. */
export type Draft = SpokenDraft | Exclude<Part, TextPart | ReasoningPart>;

/** Puts pieces of one kind of speech where they belong. */
export interface SpokenParts {
  /** The part that takes the next piece of this id. */
  at(id: string | undefined): SpokenDraft;
  /** What comes under this id from now on is another part. */
  end(id: string): void;
}

/** Pieces of one id are one part, however they mix with others; pieces without id are one as long as nothing comes between. */
export function createSpokenParts(type: SpokenDraft['type'], drafts: Draft[]): SpokenParts {
  const open = new Map<string, SpokenDraft>();
  let last: SpokenDraft | undefined;
  let lastId: string | undefined;
  return {
    at: (id) => {
      if (last !== undefined && id === lastId && (id !== undefined || drafts.at(-1) === last)) return last;
      lastId = id;
      last = id === undefined ? undefined : open.get(id);
      if (last === undefined) {
        last = { type, text: '' };
        drafts.push(last);
        if (id !== undefined) open.set(id, last);
      }
      return last;
    },
    end: (id) => {
      open.delete(id);
      if (id === lastId) last = undefined;
    },
  };
}

/** The finished part; undefined where it says nothing and carries nothing. */
export function toFinishedPart(draft: Draft): Part | undefined {
  if (draft.type !== 'text' && draft.type !== 'reasoning') return draft;
  if (draft.text === '' && draft.providerMetadata === undefined) return undefined;
  return { ...draft, text: cleanText(draft.text) };
}
