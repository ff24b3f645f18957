import type { Hook, HookChange, HookOptions } from '../hooks/index.ts';
import { defineAnyHook } from '../hooks/index.ts';
import type { ToolUseState } from './tool-use-state.ts';

/**
 * Declares a hook for conversations with tools: agents and ToolUse. It takes part where it has a handler, may change what it declares,
 * and gives its changes back; nothing that it is handed can be changed in place.
 */
export function defineHook<const Changes extends readonly HookChange[] = readonly [], Context = unknown>(
  options: HookOptions<Changes, ToolUseState, Context>,
): Hook<ToolUseState, Context> {
  return defineAnyHook<Changes, Context, ToolUseState>(options);
}
