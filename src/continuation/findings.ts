import type { ContinuationEvaluation } from './continuation-evaluation.ts';

/** A request that the run end. */
export interface StopRequest {
  /** `signal`: an AbortSignal fired, and work in flight was cut off. `request`: end at the next boundary. */
  readonly by: 'signal' | 'request';
  readonly reason: string;
  /** Person who asked, if known. */
  readonly person?: string | undefined;
  /** Number of times that the step was resumed and ended the process, if it is not resumed again for that reason. */
  readonly crashes?: number | undefined;
}

/** Facts collected before a state is judged. Criteria get them with the state; they are never stored. */
export interface Findings {
  /** Time of judging, in milliseconds. */
  readonly now?: number | undefined;
  readonly stopRequest?: StopRequest | undefined;
  /** True if ending now would leave something undone. */
  readonly workLeft?: boolean | undefined;
  /** Time that the wall limit leaves; known only if a step failed. */
  readonly remainingMs?: number | undefined;
  /** Evaluations given before judging, by hooks and by runs around this one. They count like any other. */
  readonly evaluations?: readonly ContinuationEvaluation[] | undefined;
}
