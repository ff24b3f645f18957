export type { AnswerSchema } from './answer-schema.ts';
export { toAnswerSchema } from './answer-schema.ts';
export { answeredExecution } from './answered-execution.ts';
export { defineTool } from './define-tool.ts';
export type { EffectOutcome, EffectRunner, EffectRunnerOptions } from './effect-runner.ts';
export { InvalidToolError } from './invalid-tool-error.ts';
export type { NestedCall, PreparedCall } from './prepare-call.ts';
export { prepareCall, withArgs } from './prepare-call.ts';
export { providerTool } from './provider-tool.ts';
export type { CallOutcome, NestedOutcome, NestedWaiting, RunCallsOptions } from './run-calls.ts';
export { runCalls } from './run-calls.ts';
export { issuesText } from './schema-issue.ts';
export type { StandardResult, StandardSchema } from './standard-schema.ts';
export type { ClientTool, FunctionTool, ModelOutput, NestedTool, ProviderDefinedTool, Reconciled, ShownCall, Tool } from './tool.ts';
export { ToolEffect } from './tool.ts';
export type { ApprovalContext, ContextType, ReconcileContext, ToolContext } from './tool-context.ts';
export { clipText } from './clip-text.ts';
export { contextOf } from './tool-context.ts';
export type { ToolExecution, ToolExecutionStatus } from './tool-execution.ts';
export {
  blockedCode,
  blockedExecution,
  failedExecution,
  cancelledExecution,
  rejectedExecution,
  succeededExecution,
  supersededExecution,
  toolMessages,
  unknownExecution,
} from './tool-execution.ts';
export type { AfterParsing, ArgsOf, ToolInput } from './tool-input.ts';
export type { ClientToolOptions, FunctionToolOptions } from './tool-options.ts';
export type { ToolName, ToolResultValue } from './tool-types.ts';
export type { ContextNeeded, Tools } from './tool-set.ts';
export { ToolSet } from './tool-set.ts';
