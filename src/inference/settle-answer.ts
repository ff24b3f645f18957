// What became of an answer: M1, M2, M3 and M6, in the order in which they win.
import type { Failure } from '../errors/index.ts';
import { classifyError, ModelFailedError } from '../errors/index.ts';
import type { Part } from '../messages/index.ts';
import { EmptyResponseError } from './empty-response-error.ts';
import { FinishReason } from './finish-reason.ts';
import type { ModelOutcome, ModelResponse } from './model.ts';
import { StreamInterruptedError } from './stream-interrupted-error.ts';

/** The failure of a call that somebody cancelled. Nothing went wrong, and asking again is not wanted. */
export const abortedFailure: Failure = Object.freeze({
  type: 'unknown',
  code: 'aborted',
  message: 'The call was aborted.',
  retryable: false,
});

/** End of an answer. */
export interface Ending {
  readonly aborted: boolean;
  /** The first error that came with the answer. */
  readonly error?: Failure | undefined;
  /** False if it broke off. */
  readonly finished: boolean;
}

function saysSomething(part: Part): boolean {
  if (part.type === 'text') return part.text.trim() !== '';
  return part.type === 'tool-call' || part.type === 'tool-result' || part.type === 'file' || part.type === 'image';
}

/** Returns the failure of an answer without content (M6); undefined if it has some, or if it was filtered. */
export function findEmptyFailure({
  parts,
  finishReason,
  rawFinishReason,
}: Pick<ModelResponse, 'parts' | 'finishReason' | 'rawFinishReason'>): Failure | undefined {
  // A refusal may be silent; the finish reason tells of it.
  if (finishReason === FinishReason.ContentFilter || parts.some(saysSomething)) return undefined;
  const empty = classifyError(
    new EmptyResponseError(`The model returned an empty answer (finish reason: ${rawFinishReason ?? finishReason ?? 'none'}).`),
  );
  if (finishReason !== FinishReason.Length) return empty;
  // Asked again, the model would use up the same budget in the same way.
  return {
    ...empty,
    retryable: false,
    message: `${empty.message} The whole output budget was used up; allow for more, or for less thinking.`,
  };
}

function findFailure({ aborted, error, finished }: Ending, response: ModelResponse): Failure | undefined {
  if (aborted) return abortedFailure;
  if (error !== undefined) return error;
  if (!finished) return classifyError(new StreamInterruptedError('The stream ended before the answer was complete.'));
  const { finishReason, rawFinishReason } = response;
  if (finishReason === FinishReason.Error) {
    return classifyError(new ModelFailedError(`The provider ended the answer with "${rawFinishReason ?? finishReason}".`));
  }
  return findEmptyFailure(response);
}

/** The one outcome of an answer. */
export function settleAnswer(response: ModelResponse, ending: Ending): ModelOutcome {
  const failure = findFailure(ending, response);
  return failure === undefined ? { ok: true, response } : { ok: false, failure, partial: response };
}
