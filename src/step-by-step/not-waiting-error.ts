import { SteplineError } from '../lib/index.ts';

/** Somebody answered what nobody asked. `open` are the ids that are waited for. */
export class NotWaitingError extends SteplineError {
  override readonly name = 'NotWaitingError';
  readonly code = 'not-waiting';
  readonly waitId: string;
  readonly open: readonly string[];

  constructor(waitId: string, open: readonly string[]) {
    const hint = open.length === 0 ? 'Nothing is waited for.' : `Waited for: ${open.join(', ')}.`;
    super(`Nothing with the id "${waitId}" is waited for. ${hint}`);
    this.waitId = waitId;
    this.open = open;
  }
}
