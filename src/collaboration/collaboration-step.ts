import type { ChatStep } from '../chat/index.ts';

/** A change that a participant made in a turn, besides the words. */
export type TurnChange =
  /** Puts a version of an artifact on the board. */
  | { readonly type: 'write'; readonly artifact: string; readonly version: number }
  /** Approves an artifact as it stands. */
  | { readonly type: 'approve'; readonly artifact: string; readonly version: number; readonly note?: string }
  /** Gives the next turn to somebody. */
  | { readonly type: 'handoff'; readonly to: string; readonly reason: string };

/** Result of checking an artifact against the form that completes the task, when this turn was judged. */
export interface Fit {
  readonly artifact: string;
  /** 0 if there was no such artifact. */
  readonly version: number;
  readonly ok: boolean;
  readonly problem?: string;
  /** Fingerprint of the form. */
  readonly schema: string;
  /** True if it could not be checked; it is tried again after the next turn. */
  readonly isUnknown?: boolean;
}

/** One turn of one collaborator. Plain data. */
export interface CollaborationStep extends ChatStep {
  /** Absent if nothing was changed. */
  readonly changes?: readonly TurnChange[];
  /** Absent if no form completes the task. */
  readonly fit?: Fit;
}
