// Asking a model that another model wraps. What is wrapped may be anybody's, so its promises are kept for it here.
import { classifyError, ErrorType } from '../errors/index.ts';
import { systemClock } from '../lib/index.ts';
import { Usage } from '../messages/index.ts';
import type { Model, ModelDelta, ModelOutcome, ModelRequest, ModelResponse } from './model.ts';
import { parseOutcome } from './parse-outcome.ts';
import { PartialAnswer } from './partial-answer.ts';
import { abortedFailure } from './settle-answer.ts';
import { emitActivity, emitDelta } from './emit-notice.ts';

/** Receives the pieces of an answer; undefined if the answer is wanted as a whole. */
export type OnDelta = ((delta: ModelDelta) => void) | undefined;

/** Name of a model in messages and events. */
export const modelName = ({ provider, modelId }: Model): string => `${provider}/${modelId}`;

const nothingKnown: ModelResponse = Object.freeze({ parts: [], usage: Usage.unknown() });
const nothingSpent: ModelResponse = Object.freeze({ parts: [], usage: Usage.none() });

const isAborted = ({ signal }: ModelRequest): boolean => signal?.aborted === true;

async function callModel(model: Model, request: ModelRequest, onDelta: OnDelta): Promise<ModelOutcome> {
  try {
    return parseOutcome(await (onDelta === undefined ? model.generate(request) : model.stream(request, onDelta)), model);
  } catch (error) {
    return { ok: false, failure: classifyError(error, { fallback: ErrorType.Model }), partial: nothingKnown };
  }
}

// A model that honours its signal says at once what had come and what it cost, so it is given the rest of this turn; one that does
// not is left behind. Undefined: it was.
function untilAborted(work: Promise<ModelOutcome>, signal: AbortSignal | undefined): Promise<ModelOutcome | undefined> {
  if (signal === undefined) return work;
  return new Promise((resolve) => {
    let cancel: (() => void) | undefined;
    const giveUp = (): void => {
      cancel = systemClock.schedule(0, () => resolve(undefined));
    };
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
    void work.then((outcome) => {
      signal.removeEventListener('abort', giveUp);
      cancel?.();
      resolve(outcome);
    });
  });
}

function guardActivity(request: ModelRequest): ModelRequest {
  return request.onActivity === undefined ? request : { ...request, onActivity: () => emitActivity(request) };
}

/**
 * Asks for a stream if somebody listens to the pieces, else for the whole. A throw is a failure, a listener that throws changes nothing,
 * and an aborted signal wins (M1): it ends the wait even if the model ignores it, and what comes later is dropped.
 */
export async function ask(model: Model, request: ModelRequest, onDelta: OnDelta): Promise<ModelOutcome> {
  if (isAborted(request)) return { ok: false, failure: abortedFailure, partial: nothingSpent };
  const partial = new PartialAnswer();
  let open = true;
  const listen: OnDelta =
    onDelta &&
    ((delta) => {
      if (!open) return;
      partial.take(delta);
      emitDelta(onDelta, delta);
    });
  const outcome = await untilAborted(callModel(model, guardActivity(request), listen), request.signal);
  open = false;
  if (outcome === undefined) return { ok: false, failure: abortedFailure, partial: partial.toResponse() };
  if (!isAborted(request)) return outcome;
  return { ok: false, failure: abortedFailure, partial: outcome.ok ? outcome.response : outcome.partial };
}

/** Makes a model with the same name that answers in another way, whole or as a stream. */
export function modelLike(model: Model, answer: (request: ModelRequest, onDelta: OnDelta) => Promise<ModelOutcome>): Model {
  return {
    provider: model.provider,
    modelId: model.modelId,
    ...(model.contextWindow !== undefined && { contextWindow: model.contextWindow }),
    generate: (request) => answer(request, undefined),
    stream: answer,
  };
}
