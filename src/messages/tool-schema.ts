import type { JsonObject } from '../lib/index.ts';

/** Description of a tool for a model. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
  readonly providerOptions?: JsonObject;
}

/** A tool that the provider itself runs. The model is offered it as it is. */
export interface ProviderTool {
  readonly type: 'provider';
  /** As the provider names it: `provider.tool-id`. */
  readonly id: `${string}.${string}`;
  readonly name: string;
  readonly args: JsonObject;
}

/** A tool as it is offered to a model. */
export type OfferedTool = ToolSchema | ProviderTool;
