import { SteplineError } from '../lib/index.ts';

/** A row is larger than `maxRecordBytes`, or has a value that JSON cannot represent. None of it was recorded. */
export class UnrecordableRowError extends SteplineError {
  override readonly name = 'UnrecordableRowError';
  readonly code = 'unrecordable-row';
  /** Kind of the row: `start`, `effect` or `commit`. */
  readonly kind: string;

  constructor(kind: string, problem: string, { isTooLarge = false }: { readonly isTooLarge?: boolean } = {}) {
    const advice = isTooLarge
      ? 'Store large values elsewhere and pass references, compact the conversation, or raise maxRecordBytes if the engine accepts more.'
      : 'Use plain JSON data.';
    super(`Cannot record the "${kind}" row of the journal: it ${problem}. ${advice}`);
    this.kind = kind;
  }
}
