import { SteplineError } from '../lib/index.ts';

/** The data was written by a newer version than this one, which would lose the fields it does not know. */
export class NewerSchemaError extends SteplineError {
  override readonly name = 'NewerSchemaError';
  readonly code = 'newer-schema';
  readonly kind: string;
  readonly found: number;
  readonly supported: number;

  constructor(kind: string, { found, supported }: { readonly found: number; readonly supported: number }) {
    super(
      `Data of kind "${kind}" has schema ${found}, written by a newer version of Stepline; this version reads up to schema ${supported}. ` +
        'The data was left unchanged. Update Stepline.',
    );
    this.kind = kind;
    this.found = found;
    this.supported = supported;
  }
}
