export type { NestedHost, NestedResult } from './run-nested-call.ts';
export { argsProblem } from './args-problem.ts';
export { defineCapability } from './define-capability.ts';
export { defineHook } from './define-hook.ts';
export { defineNestedTool } from './define-nested-tool.ts';
export type { Driver, Turn } from './driver.ts';
export type { ReActOptions } from './drivers/re-act.ts';
export { reActDriver } from './drivers/re-act.ts';
export { toolCallingDriver } from './drivers/tool-calling.ts';
export { fingerprintOf, fingerprintOfParts } from './fingerprint.ts';
export type { Instructions, ToolUseLimits, ToolUseOptions } from './options.ts';
export type { Rules } from './process.ts';
export { createToolUseProcess } from './process.ts';
export type { Setup } from './setup.ts';
export { checkOptions, toSetup, withDefaultLimits } from './setup.ts';
export { stepCodec } from './step-codec.ts';
export { ToolUse } from './tool-use.ts';
export type { ToolUseEvent } from './tool-use-events.ts';
export {
  InferenceStarted,
  ModelFallback,
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
export type { ToolEvent } from './typed-events.ts';
