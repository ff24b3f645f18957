import type { Failure } from '../errors/index.ts';
import { ErrorType } from '../errors/index.ts';
import { readObject } from '../lib/index.ts';

/** Reads a stored failure. */
export function readFailure(input: unknown, path: string): Failure {
  const data = readObject(input, path);
  const [retryAfterMs, toolName, toolCallId, readable] = [
    data.optionalNumber('retryAfterMs'),
    data.optionalString('toolName'),
    data.optionalString('toolCallId'),
    data.optionalBoolean('readable'),
  ];
  return {
    type: data.oneOf('type', Object.values(ErrorType)),
    code: data.string('code'),
    message: data.string('message'),
    retryable: data.boolean('retryable'),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(toolName !== undefined && { toolName }),
    ...(toolCallId !== undefined && { toolCallId }),
    ...(readable !== undefined && { readable }),
  };
}
