import { SteplineError } from '../../lib/index.ts';

/** Another process has claimed the store since: this one must not write any more. */
export class StoreFencedError extends SteplineError {
  override readonly name = 'StoreFencedError';
  readonly code = 'store-fenced';

  constructor(epoch: { readonly own: number; readonly current: number }) {
    super(
      `Another process has claimed the session store (claim ${epoch.current}; this process has claim ${epoch.own}). Nothing was written. Stop this process; the other one runs the sessions now.`,
    );
  }
}
