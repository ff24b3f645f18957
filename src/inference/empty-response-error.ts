import { ClassifiedError, ErrorType } from '../errors/index.ts';

/** A model ended its answer without having said or asked for anything. */
export class EmptyResponseError extends ClassifiedError {
  override readonly name = 'EmptyResponseError';
  readonly code = 'empty-response';
  readonly type: ErrorType = ErrorType.Model;
}
