export type { ToolUseOrchestrator } from './create-tool-use.ts';
export { createToolUse, hashConfiguration } from './create-tool-use.ts';
export { defineCapability, defineHook } from './define-hook.ts';
export { defineNestedTool } from './define-nested-tool.ts';
export type { Driver, DriverContext } from './driver.ts';
export type { ReActOptions } from './drivers/re-act.ts';
export { reActDriver } from './drivers/re-act.ts';
export { toolCallingDriver } from './drivers/tool-calling.ts';
export type { AnyToolUseOptions, Instructions, ParsedOutput, ToolUseLimits, ToolUseOptions } from './options.ts';
export { checkOptions, checkOwnCriteria, optionRule, toolUseOptionNames, withDefaultLimits } from './options.ts';
export { findJson } from './output.ts';
export type { Rules } from './process.ts';
export { createToolUseProcess } from './process.ts';
export type { NestedHost, NestedResult } from './run-nested-call.ts';
export { withAnswers, withAsker, withoutGrants } from './run-nested-call.ts';
export type { Setup } from './setup.ts';
export { toSetup } from './setup.ts';
export { stepCodec } from './step-codec.ts';
export type { ToolEvent, ToolUseEvent } from './tool-use-events.ts';
export {
  InferenceStarted,
  ModelFallback,
  ModelSkipped,
  ReasoningDelta,
  TextDelta,
  ToolApprovalRequested,
  ToolCallCompleted,
  ToolCallProgress,
  ToolCallStarted,
} from './tool-use-events.ts';
export { ToolUseState } from './tool-use-state.ts';
export type { ToolUseStep } from './tool-use-step.ts';
export { StepType } from './tool-use-step.ts';
export { createPlainToolUse, ToolUse, toolUseStates } from './tool-use.ts';
