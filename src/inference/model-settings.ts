import type { JsonObject } from '../lib/index.ts';
import { checkKeys } from '../lib/index.ts';

/** Tools that the model may, must or must not call. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly tool: string };

/** Amount of reasoning before the answer; a provider's own value is passed through. */
export type Reasoning = 'provider-default' | 'none' | 'minimal' | 'low' | 'medium' | 'high' | (string & {});

/** Settings of a model call. A provider ignores or refuses those it does not know. */
export interface ModelSettings {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  readonly seed?: number;
  readonly maxOutputTokens?: number;
  readonly toolChoice?: ToolChoice;
  readonly reasoning?: Reasoning;
  /** Texts at which the model stops. */
  readonly stop?: readonly string[];
  /** By provider name; passed on as it is. */
  readonly providerOptions?: Readonly<Record<string, JsonObject>>;
  readonly headers?: Readonly<Record<string, string>>;
}

const settingNames = [
  ...['temperature', 'topP', 'topK', 'presencePenalty', 'frequencyPenalty', 'seed', 'maxOutputTokens', 'toolChoice', 'reasoning'],
  ...['stop', 'providerOptions', 'headers'],
];

/** Throws if there is a setting that no model is asked for. */
export function checkSettings(settings: ModelSettings): void {
  checkKeys('settings', settings, settingNames);
}

/** Later settings win; provider options and headers are merged, each provider's options field by field. */
export function mergeSettings(...list: readonly (ModelSettings | undefined)[]): ModelSettings {
  return list.reduce<ModelSettings>((merged, next) => (next === undefined ? merged : mergeTwo(merged, next)), {});
}

function mergeTwo(base: ModelSettings, next: ModelSettings): ModelSettings {
  const given = Object.fromEntries(Object.entries(next).filter(([, value]) => value !== undefined));
  const headers = { ...base.headers, ...next.headers };
  const providers = new Set([...Object.keys(base.providerOptions ?? {}), ...Object.keys(next.providerOptions ?? {})]);
  const providerOptions = Object.fromEntries(
    [...providers].map((name) => [name, { ...base.providerOptions?.[name], ...next.providerOptions?.[name] }]),
  );
  return {
    ...base,
    ...given,
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(providers.size > 0 && { providerOptions }),
  };
}
