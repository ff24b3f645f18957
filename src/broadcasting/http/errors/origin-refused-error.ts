import { SteplineError } from '../../../lib/index.ts';

/** A request comes from a page of another origin. */
export class OriginRefusedError extends SteplineError {
  override readonly name = 'OriginRefusedError';
  readonly code = 'origin-refused';

  constructor(origin: string) {
    super(`Pages of ${origin} may not use this server. Add the origin to origins of createSessionHandler() to allow it.`);
  }
}
