import type { Json, JsonObject } from '../lib/index.ts';

/** A model's request to run a tool. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: Json;
  /** Arguments as the model wrote them, if they could not be parsed; `args` is then of no use. */
  readonly rawArgs?: string;
  /** True if the provider runs the tool itself. */
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: JsonObject;
}
