import { SteplineError } from '../../lib/index.ts';

/** Somebody answered a wait for which a slim payload does not hold what is needed. Nothing was changed. */
export class LostInPayloadError extends SteplineError {
  override readonly name = 'LostInPayloadError';
  readonly code = 'lost-in-payload';
  readonly waitId: string;

  constructor(waitId: string, problem: string) {
    super(problem);
    this.waitId = waitId;
  }

  /** An approval of arguments that nobody has. */
  static forArgs(waitId: string): LostInPayloadError {
    return new LostInPayloadError(
      waitId,
      `Cannot approve "${waitId}": its arguments were cut, omitted or redacted in the slim payload that this state was read from. ` +
        'Pass them with approve(id, { args }), reject the call, or load the whole state.',
    );
  }

  /** An answer for a run that is not there. */
  static forRun(waitId: string): LostInPayloadError {
    return new LostInPayloadError(
      waitId,
      `Cannot answer "${waitId}": the nested run that asked is not in the slim payload that this state was read from. ` +
        'Load the whole state, or send a message, which closes the call.',
    );
  }
}
