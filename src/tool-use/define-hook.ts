// Hooks and capabilities for conversations with tools: agents and ToolUse.
import type { Capability, Hook, HookChange, HookOptions } from '../hooks/index.ts';
import { defineAnyCapability, defineAnyHook } from '../hooks/index.ts';
import type { Tools } from '../tools/index.ts';
import type { ToolUseState } from './tool-use-state.ts';

/**
 * Declares a hook: handlers at the points of a step. It may change what it declares, and returns its changes; nothing that it is
 * handed can be changed in place.
 */
export function defineHook<const Changes extends readonly HookChange[] = readonly [], Context = unknown>(
  options: HookOptions<Changes, ToolUseState, Context>,
): Hook<ToolUseState, Context> {
  return defineAnyHook<Changes, Context, ToolUseState>(options);
}

/** Declares a capability: a named bundle of tools, hooks, criteria and instructions. */
export function defineCapability<const Given extends Tools = readonly [], Context = unknown>(
  parts: Capability<Given, ToolUseState, Context>,
  // NoInfer: the surrounding type, such as a list of any capabilities, must not decide which tools it has.
): Capability<NoInfer<Given>, ToolUseState, Context> {
  return defineAnyCapability<Given, ToolUseState, Context>(parts);
}
