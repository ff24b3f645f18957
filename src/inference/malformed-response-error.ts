import { ClassifiedError, ErrorType } from '../errors/index.ts';

/** A model returned something that is not an outcome. The message says which field, and what was found there. */
export class MalformedResponseError extends ClassifiedError {
  override readonly name = 'MalformedResponseError';
  readonly code = 'malformed-response';
  readonly type: ErrorType = ErrorType.Model;
}
