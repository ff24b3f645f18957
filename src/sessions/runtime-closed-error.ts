import { SteplineError } from '../lib/index.ts';

/** The runtime is being shut down, or another one has taken the store over. */
export class RuntimeClosedError extends SteplineError {
  override readonly name = 'RuntimeClosedError';
  readonly code = 'runtime-closed';
  /** True if the action is stored and the next runtime continues with it; false if it had no effect. */
  readonly isStored: boolean;

  constructor(why: string, { isStored = false }: { readonly isStored?: boolean } = {}) {
    const then = isStored
      ? 'The action is stored, and the next runtime on the same store goes on with it: do not repeat it without its request id.'
      : 'Nothing came of the action; repeat it with the next runtime on the same store.';
    super(`This session runtime takes no more work: ${why}. ${then}`);
    this.isStored = isStored;
  }
}
