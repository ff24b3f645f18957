import { SteplineError } from '../lib/index.ts';

/** A message came while something else is waited for, and may not take its place. */
export class MessageRefusedError extends SteplineError {
  override readonly name = 'MessageRefusedError';
  readonly code = 'message-refused';
  /** Ids of what is waited for. */
  readonly waitIds: readonly string[];

  constructor(waitIds: readonly string[], next: string) {
    super(`The message was not taken: ${waitIds.join(', ')} is waited for. ${next}`);
    this.waitIds = waitIds;
  }
}
