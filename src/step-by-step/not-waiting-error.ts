import { quoteText, SteplineError } from '../lib/index.ts';

/** An answer has an id that nothing waits for. `open` lists the ids of the open waits. */
export class NotWaitingError extends SteplineError {
  override readonly name = 'NotWaitingError';
  readonly code = 'not-waiting';
  readonly waitId: string;
  readonly open: readonly string[];

  constructor(waitId: string, open: readonly string[]) {
    const hint = open.length === 0 ? 'Nothing is waiting for an answer.' : `Answer one of ${open.join(', ')}.`;
    super(`No wait has the id ${quoteText(waitId)}. ${hint}`);
    this.waitId = waitId;
    this.open = open;
  }
}
