import { SteplineError } from '../../lib/index.ts';

/** The runtime is being shut down, or another one has taken the store over. */
export class RuntimeClosedError extends SteplineError {
  override readonly name = 'RuntimeClosedError';
  readonly code = 'runtime-closed';
  /** True if the action is stored and the next runtime continues with it; false if it had no effect. */
  readonly isStored: boolean;

  constructor(why: string, { isStored = false }: { readonly isStored?: boolean } = {}) {
    const then = isStored
      ? 'The action is stored, and the next runtime on this store continues with it. If you repeat it, use the same requestId.'
      : 'Nothing was stored. Repeat the action on the runtime that owns the store now.';
    super(`The session runtime did not accept the action: ${why}. ${then}`);
    this.isStored = isStored;
  }
}
