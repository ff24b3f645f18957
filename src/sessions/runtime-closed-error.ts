import { SteplineError } from '../lib/index.ts';

/** The runtime is being shut down, or another one has taken the store over. */
export class RuntimeClosedError extends SteplineError {
  override readonly name = 'RuntimeClosedError';
  readonly code = 'runtime-closed';

  constructor(why: string) {
    super(`This session runtime takes no more work: ${why}. What was stored is safe; the next runtime on the same store goes on with it.`);
  }
}
