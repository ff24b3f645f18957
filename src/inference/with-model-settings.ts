import { ask, modelLike } from './ask.ts';
import { checkModel } from './check-model.ts';
import type { Model } from './model.ts';
import type { ModelSettings } from './model-settings.ts';
import { checkSettings, mergeSettings } from './model-settings.ts';

/** Gives the model default settings; those of a request win. */
export function withModelSettings(model: Model, settings: ModelSettings): Model {
  checkModel('withModelSettings()', model);
  checkSettings(settings);
  return modelLike(model, (request, onDelta) => ask(model, { ...request, settings: mergeSettings(settings, request.settings) }, onDelta));
}
