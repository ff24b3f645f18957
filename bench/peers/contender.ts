// The task of every contender, and the counts that show that it did all of the work.
import { z } from 'zod';

/** Counts of events in the conversations of a script. */
export interface Tally {
  requests: number;
  toolRuns: number;
  /** Calls of the one listener. */
  notices: number;
  /** Pieces of streamed text that reached the reader. */
  pieces: number;
}

/** A conversation that a fake model plays. */
export interface Script {
  /** Model calls. All but the last call tools. */
  readonly steps: number;
  /** Tool calls of each step but the last. */
  readonly calls: number;
  /** Pieces of the last answer. */
  readonly deltas: number;
  /** True if answers are streamed. */
  readonly streams: boolean;
  readonly tally: Tally;
  /** Receives what the model is sent, as text. */
  readonly onRequest?: (prompt: unknown, tools: unknown) => void;
  /** Called with each piece of text that reaches the reader. */
  readonly onText?: () => void;
}

/** A contender that is set up for one script. */
export interface Subject {
  /** Runs one conversation to its end. Returns what a program must keep to continue it later. */
  readonly converse: () => Promise<unknown>;
  /** Writes what `converse` returned, the way the library's documentation stores a conversation. */
  readonly save?: (kept: unknown) => Promise<string | Uint8Array>;
  readonly restore?: (saved: string | Uint8Array) => Promise<unknown>;
}

export type SetUp = (script: Script) => Subject | Promise<Subject>;

/** Piece of streamed text. */
export const piece = 'some words ';

/** Question that opens each conversation. */
export const question = 'Go.';

export const toolDescription = 'Looks something up.';
export const toolInput = z.object({ id: z.number() });

/** The tool that each contender offers. */
export function look(tally: Tally, { id }: z.infer<typeof toolInput>): { readonly id: number; readonly found: boolean } {
  tally.toolRuns += 1;
  return { id, found: true };
}

export const toCallId = (step: number, index: number): string => `call-${step}-${index}`;

/** Number of the step that a request asks for, by the id of the last call whose result the model is sent. */
export const readStep = (lastCallId: string | undefined): number => (lastCallId === undefined ? 1 : Number(lastCallId.split('-')[1]) + 1);

/** Counts the pieces of text that the reader got. A reader that is behind may get several as one. */
export function takeText({ tally, onText }: Script, text: string): void {
  const count = text.length / piece.length;
  if (text !== piece.repeat(Math.floor(count))) throw new Error(`The reader got "${text.slice(0, 50)}" instead of whole pieces.`);
  tally.pieces += count;
  onText?.();
}
