import { SteplineError } from '../../../lib/index.ts';

/** A call was approved whose arguments were not shown whole. */
export class HiddenArgumentsError extends SteplineError {
  override readonly name = 'HiddenArgumentsError';
  readonly code = 'hidden-arguments';

  constructor(waitId: string, hidden: readonly string[]) {
    super(
      `The arguments of "${waitId}" were not shown whole (hidden: ${hidden.join(', ')}). Nothing was run. Fetch the wait, show all of it, and approve with its "seen".`,
    );
  }
}
