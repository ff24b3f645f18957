import { SteplineError } from '../../lib/index.ts';

/** A change to a session is larger than `maxRecordBytes`. None of it was stored. */
export class SessionTooLargeError extends SteplineError {
  override readonly name = 'SessionTooLargeError';
  readonly code = 'session-too-large';
  readonly bytes: number;
  readonly maxBytes: number;

  constructor(bytes: number, maxBytes: number) {
    super(
      `A change of ${bytes} bytes is larger than maxRecordBytes (${maxBytes}). None of it was stored. Return less from tools, or a reference; fork from an earlier step; or raise maxRecordBytes.`,
    );
    this.bytes = bytes;
    this.maxBytes = maxBytes;
  }
}
