import { isRecord, toCanonical } from '../lib/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { InvalidToolError } from './invalid-tool-error.ts';
import type { ProviderTool } from '../messages/index.ts';
import { toolNameProblem } from './tool-name.ts';

/** How a tool is declared that the provider carries out. */
export interface ProviderToolOptions {
  /** As the provider names it: `provider.tool-id`, for instance `openai.web_search`. */
  readonly id: `${string}.${string}`;
  /** What the model calls it by. */
  readonly name: string;
  /** Settings for the provider. @default {} */
  readonly args?: JsonObject;
}

/** Declares a tool that the provider itself carries out; calls of it never run here. */
export function providerTool({ id, name, args = {} }: ProviderToolOptions): ProviderTool {
  const problem = toolNameProblem(name);
  if (problem !== undefined) throw new InvalidToolError(name, problem);
  if (!/^[^.]+\..+$/s.test(id)) throw new InvalidToolError(name, 'its id must look like "provider.tool-id".');
  const canonical = toCanonical(args);
  if (!canonical.ok || !isRecord(canonical.value)) throw new InvalidToolError(name, 'its args must be a plain JSON object.');
  return Object.freeze({ type: 'provider', id, name, args: canonical.value });
}
