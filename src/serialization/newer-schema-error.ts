import { SteplineError } from '../lib/index.ts';

/** What was found, and the newest that this version can read. */
export interface SchemaNumbers {
  readonly found: number;
  readonly supported: number;
}

/** The data was written by a newer version than this one, which would lose what it does not know. */
export class NewerSchemaError extends SteplineError {
  override readonly name = 'NewerSchemaError';
  readonly code = 'newer-schema';
  readonly kind: string;
  readonly found: number;
  readonly supported: number;

  constructor(kind: string, { found, supported }: SchemaNumbers) {
    super(
      `Data of kind "${kind}" has schema ${String(found)}, written by a newer version; this one reads up to schema ${String(supported)}. ` +
        'Please update stepline; the data was left untouched.',
    );
    this.kind = kind;
    this.found = found;
    this.supported = supported;
  }
}
