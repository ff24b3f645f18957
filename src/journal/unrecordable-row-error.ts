import { SteplineError } from '../lib/index.ts';

/** A row is too large for the engine, or holds a value that JSON cannot keep. Nothing of it was recorded. */
export class UnrecordableRowError extends SteplineError {
  override readonly name = 'UnrecordableRowError';
  readonly code = 'unrecordable-row';
  /** Kind of the row: `start`, `effect`, `commit`. */
  readonly kind: string;

  constructor(kind: string, problem: string, { isTooLarge = false }: { readonly isTooLarge?: boolean } = {}) {
    const advice = isTooLarge
      ? 'Keep large values elsewhere and pass references, compact the conversation, or raise maxRowBytes if the engine takes more.'
      : 'Use plain JSON data.';
    super(`The row "${kind}" of the journal cannot be recorded: it ${problem}. ${advice}`);
    this.kind = kind;
  }
}
