import { describeTool } from './describe-tool.ts';
import type { ClientTool } from './tool.ts';
import type { BesideInput, ToolInput } from './tool-input.ts';
import type { ClientToolOptions } from './tool-options.ts';

const runsElsewhere = 'A client tool runs outside. Use defineTool() for a tool that runs here.';
const hints = Object.fromEntries(
  ['run', 'execute', 'needsApproval', 'timeoutMs', 'effect', 'reconcile', 'context'].map((option) => [option, runsElsewhere]),
);

/** Declares a tool that somebody outside runs, such as a browser: a call of it waits for the answer. */
export function defineClientTool<const Input extends ToolInput, const Output extends ToolInput | undefined = undefined>(
  given: ClientToolOptions<Input, Output> & BesideInput<Input>,
): ClientTool {
  return Object.freeze({ type: 'client', ...describeTool(given, { maker: 'defineClientTool()', hints }) });
}
