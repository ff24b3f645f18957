import { describeValue, findKeyProblem, isRecord, toCanonical } from '../lib/index.ts';
import type { JsonObject } from '../lib/index.ts';
import { InvalidToolError } from './invalid-tool-error.ts';
import type { ProviderTool } from '../messages/index.ts';
import { findToolNameProblem } from './tool-name.ts';

/** Options of a tool that the provider runs. */
export interface ProviderToolOptions {
  /** As the provider names it: `provider.tool-id`, for instance `openai.web_search`. */
  readonly id: `${string}.${string}`;
  /** Name that the model calls. */
  readonly name: string;
  /** Settings for the provider. @default {} */
  readonly args?: JsonObject;
}

/** Declares a tool that the provider itself runs; calls of it never run here. */
export function providerTool(options: ProviderToolOptions): ProviderTool {
  const { id, name, args = {} } = options;
  const problem = findToolNameProblem(name) ?? findKeyProblem('providerTool()', options, ['id', 'name', 'args']);
  if (problem !== undefined) throw new InvalidToolError(name, problem);
  if (!/^[^.]+\..+$/s.test(id))
    throw new InvalidToolError(name, `its id must look like "provider.tool-id", such as "openai.web_search", not ${describeValue(id)}.`);
  const canonical = toCanonical(args);
  if (!canonical.ok || !isRecord(canonical.value))
    throw new InvalidToolError(
      name,
      `its args must be a plain JSON object, not ${isRecord(args) ? 'one with other values' : describeValue(args)}.`,
    );
  return Object.freeze({ type: 'provider', id, name, args: canonical.value });
}
