import { ask, modelLike } from './ask.ts';
import type { Model } from './model.ts';
import type { ModelSettings } from './model-settings.ts';
import { mergeSettings } from './model-settings.ts';

/** The model with settings of its own; what a request asks for wins over them. */
export function withModelSettings(model: Model, settings: ModelSettings): Model {
  return modelLike(model, (request, onDelta) => ask(model, { ...request, settings: mergeSettings(settings, request.settings) }, onDelta));
}
