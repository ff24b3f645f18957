// Envelopes of text that is still being written, and of models that fail meanwhile.
import type { JsonObject } from '../../lib/index.ts';
import { omitUndefined, present } from '../../lib/index.ts';
import type { EnvelopePart } from '../envelope.ts';
import type { EventView } from './event-view.ts';
import { toStatusSentence } from './sentences.ts';
import type { PartMapper } from './part-mapper.ts';

/** Parts of a step that are void: streamed text only, or all that was sent of an attempt that is not stored. */
interface VoidFacts {
  readonly step: number;
  readonly scope: 'text' | 'attempt';
  /** Absent if it is not known: everything so far is void. */
  readonly attempt?: number | undefined;
  readonly answer?: number | undefined;
}

/** Takes back what was sent of a step. */
export const toVoid = ({ step, scope, attempt, answer }: VoidFacts): EnvelopePart => ({
  event: 'agent.stream.void',
  data: omitUndefined({ step_number: step, scope, attempt, answer }),
});

/** A piece of text that is to be sent. */
export interface TextChunk {
  readonly kind: 'text' | 'reasoning';
  readonly text: string;
  readonly step: number;
  readonly attempt: number;
  /** Number of the model's answer in its attempt. @default 1 */
  readonly answer?: number | undefined;
  /** Position of its first character in the text of this kind. */
  readonly offset: number;
}

/** Most characters of a chunk, whatever the byte budget: one character takes six bytes of JSON at most. */
const getLongestChunk = (maxBytes: number): number => Math.max(100, Math.floor((maxBytes - 900) / 6));

/** Splits a text so that every chunk is within the byte budget, never inside a character. */
function splitText(text: string, longest: number): readonly string[] {
  if (text.length <= longest) return [text];
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    const end = Math.min(text.length, start + longest);
    const isInside = end < text.length && /[\ud800-\udbff]/.test(text[end - 1] ?? '');
    pieces.push(text.slice(start, isInside ? end - 1 : end));
    start += pieces.at(-1)?.length ?? longest;
  }
  return pieces;
}

function toChunk({ kind, text, step, attempt, answer = 1, offset }: TextChunk, { settings }: Pick<EventView, 'settings'>): EnvelopePart {
  const shown = settings.redactor.text(text);
  const words: JsonObject = kind === 'text' ? { text: shown } : { reasoning: shown };
  // Readers count characters: if some are hidden, the chunk says how many it stands for.
  const length = shown.length === text.length ? undefined : text.length;
  return { event: 'agent.stream.chunk', data: present({ ...words, step_number: step, attempt, answer, offset, length }) };
}

/** Turns a piece of text into chunks within the byte budget. */
export function toChunks(chunk: TextChunk, view: Pick<EventView, 'settings'>): readonly EnvelopePart[] {
  const { includesChunks, maxBytes } = view.settings;
  if (!includesChunks || chunk.text === '') return [];
  let { offset } = chunk;
  return splitText(chunk.text, getLongestChunk(maxBytes)).map((text) => {
    const part = toChunk({ ...chunk, text, offset }, view);
    offset += text.length;
    return part;
  });
}

const toDelta =
  (kind: TextChunk['kind']): PartMapper =>
  (view, { attempt = 1, answer, offset = 0 }) => {
    const text = view.fields['text'];
    return toChunks({ kind, text: typeof text === 'string' ? text : '', step: view.number('stepNumber'), attempt, answer, offset }, view);
  };

const toFallback: PartMapper = (view, { attempt, answer }) => {
  const failure = view.inner('failure');
  const data = present({
    step_number: view.number('stepNumber'),
    from: view.name('from'),
    to: view.name('to'),
    error_type: failure.optionalName('type'),
    code: failure.optionalName('code'),
    sentence: failure.sentence('message') ?? toStatusSentence(view),
  });
  return [{ event: 'agent.model_fallback', data }, toVoid({ step: view.number('stepNumber'), scope: 'text', attempt, answer })];
};

export const streamMappers: Readonly<Record<string, PartMapper>> = {
  TextDelta: toDelta('text'),
  ReasoningDelta: toDelta('reasoning'),
  ModelFallback: toFallback,
};
