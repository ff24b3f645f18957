import { SteplineError } from '../../lib/index.ts';

/** An error of another process whose class is not known here: a foreign one, or one of a newer release. */
export class RemoteError extends SteplineError {
  override readonly name: string;
  /** The code that it had there; `unclassified` if it had none. */
  readonly code: string;

  constructor(message: string, { name, code }: { readonly name: string; readonly code: string }) {
    super(message);
    this.name = name;
    this.code = code;
  }
}
