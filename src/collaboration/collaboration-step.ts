import type { ChatStep } from '../chat/index.ts';

/** What somebody did in a turn beside the words. */
export type Act =
  /** Put a version of an artifact on the board. */
  | { readonly type: 'write'; readonly artifact: string; readonly version: number }
  /** Agreed with an artifact as it stood. */
  | { readonly type: 'approve'; readonly artifact: string; readonly version: number; readonly note?: string }
  /** Gave the next turn to somebody. */
  | { readonly type: 'handoff'; readonly to: string; readonly reason: string };

/** Whether an artifact had the form that completes the task, when this turn was judged. */
export interface Fit {
  readonly artifact: string;
  /** 0 where there was no such artifact. */
  readonly version: number;
  readonly ok: boolean;
  readonly problem?: string;
  /** The form that was looked for, by its fingerprint. */
  readonly schema: string;
  /** True where it could not be found out; it is tried again after the next turn. */
  readonly isUnknown?: boolean;
}

/** One turn of one collaborator. Plain data. */
export interface CollaborationStep extends ChatStep {
  /** Absent where nothing was done beside the words. */
  readonly acts?: readonly Act[];
  /** Absent where no form completes the task. */
  readonly fit?: Fit;
}
