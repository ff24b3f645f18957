import type { Failure } from '../errors/index.ts';
import { ErrorType } from '../errors/index.ts';
import { Usage } from '../messages/index.ts';
import type { OnDelta } from './ask.ts';
import { ask, modelLike, modelName } from './ask.ts';
import type { Model, ModelNotice, ModelOutcome, ModelRequest, ModelResponse } from './model.ts';
import { abortedFailure } from './settle-answer.ts';
import { emitDelta, emitNotice } from './emit-notice.ts';

interface Attempt {
  readonly model: Model;
  readonly failure: Failure;
}

type Failed = Extract<ModelOutcome, { readonly ok: false }>;

// Another model helps if this one is busy, slow or broken; not if the request is at fault, or nobody wants an answer.
function mayHelp({ type, retryable }: Failure): boolean {
  return retryable && type !== ErrorType.Validation && type !== ErrorType.Tool;
}

function mapResponse(outcome: ModelOutcome, change: (response: ModelResponse) => ModelResponse): ModelOutcome {
  return outcome.ok ? { ...outcome, response: change(outcome.response) } : { ...outcome, partial: change(outcome.partial) };
}

function addModel(outcome: ModelOutcome, { modelId, provider }: Model): ModelOutcome {
  return mapResponse(outcome, (response) => ({ modelId, ...response, provider }));
}

function listAttempts(outcome: Failed, earlier: readonly Attempt[], last: Model): ModelOutcome {
  if (earlier.length === 0 || outcome.failure.code === abortedFailure.code) return outcome;
  const attempts = [...earlier, { model: last, failure: outcome.failure }];
  const words = attempts.map(({ model, failure }) => `${modelName(model)}: ${failure.message}`);
  return { ...outcome, failure: { ...outcome.failure, message: `${attempts.length} models failed. ${words.join(' | ')}` } };
}

// An attempt that was refused at the door has used nothing; one that had begun to answer and reported nothing is unknown.
function getSpent({ parts, usage }: ModelResponse): Usage {
  const { unknownCalls: _, ...known } = usage;
  return parts.length > 0 ? usage : known;
}

// What the failed attempts cost was spent on this answer.
function addSpent(outcome: ModelOutcome, spent: Usage): ModelOutcome {
  return Usage.isNone(spent) ? outcome : mapResponse(outcome, (response) => ({ ...response, usage: Usage.add(spent, response.usage) }));
}

// The last of a nested row of models has signed what came of it.
const getFailedName = ({ provider, modelId }: ModelResponse, model: Model): string =>
  provider === undefined || modelId === undefined ? modelName(model) : `${provider}/${modelId}`;

function countFallbacks(request: ModelRequest, inner: { usage: Usage }): ModelRequest {
  if (request.onNotice === undefined) return request;
  const onNotice = (notice: ModelNotice): void => {
    if (notice.type === 'fallback') inner.usage = Usage.add(inner.usage, notice.usage);
    emitNotice(request, notice);
  };
  return { ...request, onNotice };
}

function noteDeltas(onDelta: NonNullable<OnDelta>, told: { any: boolean }): OnDelta {
  return (delta) => {
    told.any = true;
    onDelta(delta);
  };
}

/**
 * Asks the model, then each of the others once, until one answers. A rate limit, a time-out or a failure that may pass leads to the
 * next; a bad request, a wrong key, an overfull context or an abort does not. If pieces of a failed answer were emitted already,
 * a `restart` delta says so before the next model answers. The usage is what all attempts reported.
 */
export function withFallback(model: Model, others: Model | readonly Model[]): Model {
  const models = [model, ...[others].flat()];

  const answer = async (request: ModelRequest, onDelta: OnDelta): Promise<ModelOutcome> => {
    const failed: Attempt[] = [];
    let spent = Usage.none();
    const told = { any: false };
    const hear: OnDelta = onDelta && noteDeltas(onDelta, told);
    for (let [index, current] = [0, model]; ; index += 1) {
      const next = models[index + 1];
      // A model may itself turn to others; what they told already is not told again.
      const inner = { usage: Usage.none() };
      const outcome = await ask(current, countFallbacks(request, inner), hear);
      if (outcome.ok) return index === 0 ? outcome : addSpent(addModel(outcome, current), spent);
      if (next === undefined || !mayHelp(outcome.failure)) {
        const told = listAttempts(outcome, failed, current);
        return addSpent(index === 0 ? told : addModel(told, current), spent);
      }
      failed.push({ model: current, failure: outcome.failure });
      const whole = getSpent(outcome.partial);
      const usage = Usage.minus(whole, inner.usage);
      spent = Usage.add(spent, whole);
      emitNotice(request, {
        type: 'fallback',
        from: getFailedName(outcome.partial, current),
        to: modelName(next),
        failure: outcome.failure,
        usage,
      });
      if (told.any) emitDelta(onDelta, { type: 'restart' });
      told.any = false;
      current = next;
    }
  };
  return modelLike(model, answer);
}
