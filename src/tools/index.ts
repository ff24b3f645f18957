export { answeredExecution } from './answered-execution.ts';
export { defineClientTool } from './define-client-tool.ts';
export { defineTool } from './define-tool.ts';
export type { ToolDescription } from './describe-tool.ts';
export { describeTool } from './describe-tool.ts';
export type { EffectOutcome, EffectRunner, EffectRunnerOptions } from './effect-runner.ts';
export { InvalidToolError } from './invalid-tool-error.ts';
export type { FromJsonSchema, JsonSchemaInput } from './json-schema-input.ts';
export type { NestedCall, PreparedCall, PrepareOptions, ReadyCall } from './prepare-call.ts';
export { prepareCall, withArgs } from './prepare-call.ts';
export type { ProviderToolOptions } from './provider-tool.ts';
export { providerTool } from './provider-tool.ts';
export { runCall } from './run-call.ts';
export type { RunCallOptions } from './run-call-options.ts';
export type { CallOutcome, NestedOutcome, NestedWaiting, RunCallsOptions } from './run-calls.ts';
export { runCalls } from './run-calls.ts';
export type { Parsed, SchemaIssue } from './schema-issue.ts';
export { issuesText } from './schema-issue.ts';
export type { StandardJsonSchema, StandardResult, StandardSchema } from './standard-schema.ts';
export type {
  ClientTool,
  DescribedTool,
  FunctionTool,
  ModelOutput,
  NestedTool,
  OfferedAs,
  ProviderDefinedTool,
  Reconciled,
  ShownCall,
  Tool,
} from './tool.ts';
export { ToolEffect } from './tool.ts';
export type { ApprovalContext, ContextType, ReconcileContext, ToolContext } from './tool-context.ts';
export { clipText } from './clip-text.ts';
export { contextOf } from './tool-context.ts';
export type { ExecutionTiming, ToolExecution, ToolExecutionStatus } from './tool-execution.ts';
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
export type { ClientToolOptions, FunctionToolOptions, ToolReturn } from './tool-options.ts';
export type { ToolName, ToolResultValue } from './tool-types.ts';
export type { ContextNeeded, Tools } from './tool-set.ts';
export { ToolSet } from './tool-set.ts';
export type { AnswerSchema, InputSchema, ValueSchema } from './value-schema.ts';
export { toAnswerSchema } from './value-schema.ts';
