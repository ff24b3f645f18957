import type { Json, JsonObject } from '../lib/index.ts';

/** A model's wish to have a tool run. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: Json;
  /** The arguments as the model wrote them, where they could not be parsed; `args` then holds nothing of use. */
  readonly rawArgs?: string;
  /** True where the provider runs the tool itself and we only see that it did. */
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: JsonObject;
}
