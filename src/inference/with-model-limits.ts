import { InvalidArgumentError } from '../lib/index.ts';
import { Usage } from '../messages/index.ts';
import { ask, modelLike, modelName } from './ask.ts';
import { checkModel } from './check-model.ts';
import type { Model } from './model.ts';
import type { ModelLimitOptions, ModelLimits } from './model-limits.ts';
import { createModelLimits } from './model-limits.ts';
import { emitNotice } from './emit-notice.ts';

function toModelLimits(limits: ModelLimits | ModelLimitOptions, key: string | undefined): ModelLimits {
  if ('gate' in limits) return limits;
  if (key === undefined) return createModelLimits(limits);
  throw new InvalidArgumentError(
    `withModelLimits() got the key "${key}", but limits that are not shared. Pass createModelLimits({…}) to share them, or remove the key.`,
  );
}

/**
 * Limits how often the model is called. Calls wait in a queue, and emit `waiting` and `waited` notices. Pass limits
 * made by `createModelLimits` to share them between models and runs: those with the same key share a queue. In sessions, the workers
 * of a store divide the limits between them.
 */
export function withModelLimits(model: Model, limits: ModelLimits | ModelLimitOptions, key?: string): Model {
  checkModel('withModelLimits()', model);
  const name = modelName(model);
  const gate = toModelLimits(limits, key).gate(key ?? name);
  return modelLike(model, async (request, onDelta) => {
    const { failure, waitedMs } = await gate.enter({
      signal: request.signal,
      sharedBy: request.sharedBy,
      onWait: (reason, ms) => emitNotice(request, { type: 'waiting', model: name, reason, ...(ms !== undefined && { ms }) }),
    });
    if (waitedMs !== undefined) emitNotice(request, { type: 'waited', model: name, ms: waitedMs });
    if (failure !== undefined) return { ok: false, failure, partial: { parts: [], usage: Usage.none() } };
    const outcome = await ask(model, request, onDelta);
    gate.leave(outcome);
    return outcome;
  });
}
