export type { NestedHost, NestedResult } from './carry-on-nested.ts';
export type { ToolUseOrchestrator } from './create-tool-use.ts';
export { createToolUse } from './create-tool-use.ts';
export { defineCapability } from './define-capability.ts';
export { defineHook } from './define-hook.ts';
export type { NestedToolOptions } from './define-nested-tool.ts';
export { defineNestedTool } from './define-nested-tool.ts';
export type { Answered, AnswerFacts, Driver, Question, Turn } from './driver.ts';
export type { ReActOptions } from './drivers/re-act.ts';
export { reActDriver } from './drivers/re-act.ts';
export { toolCallingDriver } from './drivers/tool-calling.ts';
export { hashConfiguration } from './fingerprint.ts';
export type { AnyToolUseOptions, InstructionFacts, Instructions, ParsedOutput, ToolUseLimits, ToolUseOptions } from './options.ts';
export type { Rules } from './process.ts';
export { createToolUseProcess } from './process.ts';
export type { Setup } from './setup.ts';
export { toSetup, withDefaultLimits } from './setup.ts';
export { stepCodec } from './step-codec.ts';
export { createPlainToolUse, ToolUse } from './tool-use.ts';
export type { CallFacts, InferenceFacts, ToolUseEvent } from './tool-use-events.ts';
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
export type { CallAnswer, NestedMemo, ToolUseStep } from './tool-use-step.ts';
export { StepType } from './tool-use-step.ts';
export type { ToolEvent } from './typed-events.ts';
