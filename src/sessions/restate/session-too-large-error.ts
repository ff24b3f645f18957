import { SteplineError } from '../../lib/index.ts';

/** A change of a session is larger than what a Restate server takes in one message. Nothing of it was stored. */
export class SessionTooLargeError extends SteplineError {
  override readonly name = 'SessionTooLargeError';
  readonly code = 'session-too-large';
  readonly bytes: number;
  readonly maxBytes: number;

  constructor(bytes: number, maxBytes: number) {
    super(
      `A change of ${bytes} bytes is too large for one row of a Restate journal (at most ${maxBytes}). Nothing was stored. Let tools return less, or a reference; fork a shorter session.`,
    );
    this.bytes = bytes;
    this.maxBytes = maxBytes;
  }
}
