import { ClassifiedError, ErrorType } from '../errors/index.ts';

/** A participant's own limit ended its turn before it said anything. */
export class TurnIncompleteError extends ClassifiedError {
  override readonly name = 'TurnIncompleteError';
  readonly code = 'turn-incomplete';
  readonly type: ErrorType = ErrorType.Model;

  constructor(message: string) {
    // The same limit would end the next attempt as well.
    super(message, { retryable: false });
  }
}
