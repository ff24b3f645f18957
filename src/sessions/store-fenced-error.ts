import { SteplineError } from '../lib/index.ts';

/** Another process has claimed the store since: this one must not write any more. */
export class StoreFencedError extends SteplineError {
  override readonly name = 'StoreFencedError';
  readonly code = 'store-fenced';

  constructor(epoch: { readonly own: number; readonly current: number }) {
    super(
      `This process claimed the session store as number ${epoch.own}, and another has claimed it since (${epoch.current}). Nothing was written. Stop this process; the other one carries the sessions on.`,
    );
  }
}
