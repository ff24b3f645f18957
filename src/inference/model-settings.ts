import type { JsonObject } from '../lib/index.ts';

/** Which tools the model may, must or must not call. */
export type ToolChoice = 'auto' | 'none' | 'required' | { readonly tool: string };

/** How hard the model thinks before it answers; a provider's own word is passed on. */
export type Reasoning = 'provider-default' | 'none' | 'minimal' | 'low' | 'medium' | 'high' | (string & {});

/** What one call may ask of its model. What a provider does not know, it ignores or refuses. */
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

/** Later settings win; provider options and headers are joined, each provider's options field by field. */
export function mergeSettings(...list: readonly (ModelSettings | undefined)[]): ModelSettings {
  return list.reduce<ModelSettings>((merged, next) => (next === undefined ? merged : joined(merged, next)), {});
}

function joined(base: ModelSettings, next: ModelSettings): ModelSettings {
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
