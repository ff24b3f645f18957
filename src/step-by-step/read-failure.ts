import type { Failure } from '../errors/index.ts';
import { ErrorType } from '../errors/index.ts';
import type { RefusedPart } from '../inference/index.ts';
import { omitUndefined, readObject, readString } from '../lib/index.ts';

/** Reads a stored attachment that a model refused. */
export function readRefusedPart(input: unknown, path: string): RefusedPart {
  const data = readObject(input, path);
  return { messageId: data.string('messageId'), path: data.string('path'), reason: data.string('reason') };
}

/** Reads a stored failure. */
export function readFailure(input: unknown, path: string): Failure {
  const data = readObject(input, path);
  return omitUndefined({
    type: data.oneOf('type', Object.values(ErrorType)),
    code: data.string('code'),
    message: data.string('message'),
    retryable: data.boolean('retryable'),
    retryAfterMs: data.optionalNumber('retryAfterMs'),
    toolName: data.optionalString('toolName'),
    toolCallId: data.optionalString('toolCallId'),
    readable: data.optionalBoolean('readable'),
    blockedBy: data.optionalString('blockedBy'),
    refusedParts: data.optionalArray('refusedParts', readRefusedPart),
    causes: data.optionalArray('causes', readString),
  });
}
