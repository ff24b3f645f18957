import type { Model, ModelRequest } from './model.ts';
import type { ModelSettings } from './model-settings.ts';
import { mergeSettings } from './model-settings.ts';

/** The model with settings of its own; what a request asks for wins over them. */
export function withModelSettings(model: Model, settings: ModelSettings): Model {
  const filled = (request: ModelRequest): ModelRequest => ({ ...request, settings: mergeSettings(settings, request.settings) });
  return {
    provider: model.provider,
    modelId: model.modelId,
    generate: (request) => model.generate(filled(request)),
    stream: (request, onDelta) => model.stream(filled(request), onDelta),
  };
}
