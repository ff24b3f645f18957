import type { JsonObject } from '../lib/index.ts';

/** What a model is told about a tool. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject;
  readonly providerOptions?: JsonObject;
}
