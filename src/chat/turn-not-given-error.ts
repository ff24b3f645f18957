import type { EffectFailure } from '../effects/index.ts';
import { ClassifiedError, ErrorType } from '../errors/index.ts';

/** A selector did not name a participant of the conversation. */
export class TurnNotGivenError extends ClassifiedError {
  override readonly name = 'TurnNotGivenError';
  readonly code = 'turn-not-given';
  readonly type: ErrorType;

  constructor(message: string, failure?: EffectFailure) {
    super(message, { retryable: failure?.retryable ?? true });
    this.type = failure?.type ?? ErrorType.Unknown;
  }
}
