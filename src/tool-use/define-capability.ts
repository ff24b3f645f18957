import type { Capability } from '../hooks/index.ts';
import { defineAnyCapability } from '../hooks/index.ts';
import type { Tools } from '../tools/index.ts';
import type { ToolUseState } from './tool-use-state.ts';

/** Declares a capability for conversations with tools: a named bundle of tools, hooks, rules and words. */
export function defineCapability<const Given extends Tools = readonly [], Context = unknown>(
  parts: Capability<Given, ToolUseState, Context>,
  // NoInfer: the place where it is declared, such as a list of any capabilities, must not decide which tools it has.
): Capability<NoInfer<Given>, ToolUseState, Context> {
  return defineAnyCapability<Given, ToolUseState, Context>(parts);
}
