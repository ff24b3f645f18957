// Asking a model that another model wraps. What is wrapped may be anybody's, so its promises are kept for it here.
import { classifyError, ErrorType } from '../errors/index.ts';
import { Usage } from '../messages/index.ts';
import type { Model, ModelDelta, ModelOutcome, ModelRequest, ModelResponse } from './model.ts';
import { abortedFailure } from './settle-answer.ts';

/** Hears the pieces of an answer; left out where the answer is wanted as a whole. */
export type OnDelta = ((delta: ModelDelta) => void) | undefined;

/** How a model is named to people. */
export const modelName = ({ provider, modelId }: Model): string => `${provider}/${modelId}`;

const nothingKnown: ModelResponse = Object.freeze({ parts: [], usage: Usage.unknown() });
const nothingSpent: ModelResponse = Object.freeze({ parts: [], usage: Usage.none() });

const isAborted = ({ signal }: ModelRequest): boolean => signal?.aborted === true;

async function settled(model: Model, request: ModelRequest, onDelta: OnDelta): Promise<ModelOutcome> {
  try {
    return await (onDelta === undefined ? model.generate(request) : model.stream(request, onDelta));
  } catch (error) {
    return { ok: false, failure: classifyError(error, { fallback: ErrorType.Model }), partial: nothingKnown };
  }
}

/** Asks for a stream where somebody hears the pieces, else for the whole. A throw is a failure, and an aborted signal wins (M1). */
export async function ask(model: Model, request: ModelRequest, onDelta: OnDelta): Promise<ModelOutcome> {
  if (isAborted(request)) return { ok: false, failure: abortedFailure, partial: nothingSpent };
  const outcome = await settled(model, request, onDelta);
  if (!isAborted(request)) return outcome;
  return { ok: false, failure: abortedFailure, partial: outcome.ok ? outcome.response : outcome.partial };
}

/** A model with the same name that answers in another way; both of its doors lead here. */
export function modelLike(model: Model, answer: (request: ModelRequest, onDelta: OnDelta) => Promise<ModelOutcome>): Model {
  return {
    provider: model.provider,
    modelId: model.modelId,
    generate: (request) => answer(request, undefined),
    stream: answer,
  };
}
