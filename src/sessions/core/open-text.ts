// The text of an open step, as any reader sees it.
// Owns:     the form of its rows, and what a reader has received of it.
// Does not: read a store, or know who writes.
// P1. A reader gets the text of one attempt at a time, from its first character on, without a gap and without a double.
// P2. A later attempt at the same step makes the earlier ones void; a step that is recorded or parked ends its text.
import type { EffectRow } from '../../journal/index.ts';
import { omitUndefined, readObject } from '../../lib/index.ts';
import type { OpenText, OpenTextPlace } from './session-runtime.ts';

/** Keys of the rows begin with it. */
export const openTextPrefix = 'text/';

/** One attempt at a step. */
export interface TextAttempt extends OpenTextPlace {
  /**
   * The last entry of the log when the first attempt began. All attempts have it in common until the step is recorded or waits: the text
   * of a step that has waited is told apart from the text before.
   */
  readonly since: number;
}

/** A piece of the text of one attempt. */
export interface TextPiece extends TextAttempt {
  readonly kind: 'text' | 'reasoning';
  /** Position of its first character in the text of this kind. */
  readonly offset: number;
  readonly text: string;
  readonly participant?: string;
}

/** Writes a piece as a row of the open step. `n` counts the rows of the attempt. */
export const toTextRow = (piece: TextPiece, n: number): EffectRow => ({
  key: `${openTextPrefix}${piece.attempt}/${n}`,
  phase: 'intent',
  body: JSON.stringify(piece),
});

export const isTextRow = ({ key }: EffectRow): boolean => key.startsWith(openTextPrefix);

/** Reads a piece from its row. */
export function readTextRow({ body }: EffectRow): TextPiece {
  const data = readObject(JSON.parse(body), 'text of the open step');
  return omitUndefined({
    execution: data.number('execution'),
    step: data.number('step'),
    attempt: data.number('attempt'),
    since: data.number('since'),
    kind: data.string('kind') === 'reasoning' ? ('reasoning' as const) : ('text' as const),
    offset: data.number('offset'),
    text: data.string('text'),
    participant: data.optionalString('participant'),
  });
}

/** Adds a piece to a list, joined to the last one if it continues that. */
export function addPiece(pieces: readonly TextPiece[], next: TextPiece): readonly TextPiece[] {
  const last = pieces.at(-1);
  const continues = last?.kind === next.kind && last.participant === next.participant && last.offset + last.text.length === next.offset;
  return continues ? [...pieces.slice(0, -1), { ...last, text: last.text + next.text }] : [...pieces, next];
}

const toPlace = ({ execution, step, attempt }: OpenTextPlace): OpenTextPlace => ({ execution, step, attempt });

/** Leaves out pieces of attempts that a later one in the list has made void. */
function dropVoid(pieces: readonly TextPiece[]): readonly TextPiece[] {
  const last = pieces.at(-1);
  return pieces.filter(({ since, attempt }) => since === last?.since && attempt === last.attempt);
}

/** The text that a reader has received, and what is to be passed on. */
export class OpenTextCursor {
  #attempt: TextAttempt | undefined;
  #isVoid = false;
  /** Number of characters that were received of each kind. */
  #received = { text: 0, reasoning: 0 };
  /** Text of attempts that began before this entry is over. */
  #floor = 0;

  /** Takes pieces in their order; returns what is new. */
  take(pieces: readonly TextPiece[]): readonly OpenText[] {
    return dropVoid(pieces).flatMap((piece) => [...this.#enter(piece), ...this.#receive(piece)]);
  }

  /** Takes all that is stored of the open step. If nothing is stored of what was received, its step is recorded, or waits. */
  takeStored(pieces: readonly TextPiece[]): readonly OpenText[] {
    const current = this.#attempt;
    const isGone = current !== undefined && !this.#isVoid && pieces.every(({ since }) => since !== current.since);
    return [...(isGone ? this.endStep(current.since) : []), ...this.take(pieces)];
  }

  /** The text is void, though no later attempt has begun yet. */
  endAttempt(): readonly OpenText[] {
    if (this.#attempt === undefined || this.#isVoid) return [];
    this.#isVoid = true;
    return [{ type: 'void', ...toPlace(this.#attempt) }];
  }

  /** The step whose first attempt began after entry `since` is recorded, or waits. */
  endStep(since: number): readonly OpenText[] {
    this.#floor = Math.max(this.#floor, since + 1);
    const current = this.#attempt;
    if (current === undefined || current.since > since) return [];
    this.#attempt = undefined;
    return [{ type: 'recorded', ...toPlace(current) }];
  }

  /** Goes on to the attempt of a piece, if it is a later one. */
  #enter({ execution, step, attempt, since }: TextPiece): readonly OpenText[] {
    const current = this.#attempt;
    const isLater = current === undefined || since > current.since || (since === current.since && attempt > current.attempt);
    if (!isLater || since < this.#floor) return [];
    const ended = current !== undefined && since > current.since ? this.endStep(current.since) : this.endAttempt();
    this.#attempt = { execution, step, attempt, since };
    this.#isVoid = false;
    this.#received = { text: 0, reasoning: 0 };
    return ended;
  }

  #receive({ kind, offset, text, participant, ...piece }: TextPiece): readonly OpenText[] {
    const current = this.#attempt;
    const received = this.#received[kind];
    const isCurrent = current !== undefined && !this.#isVoid && piece.since === current.since && piece.attempt === current.attempt;
    if (!isCurrent || offset > received || offset + text.length <= received) return [];
    this.#received[kind] = offset + text.length;
    const rest = { kind, offset: received, text: text.slice(received - offset) };
    return [{ type: 'piece', ...toPlace(current), ...rest, ...(participant !== undefined && { participant }) }];
  }
}
