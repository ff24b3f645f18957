export type { AnswerSchema } from './answer-schema.ts';
export { toAnswerSchema } from './answer-schema.ts';
export { answeredExecution } from './answered-execution.ts';
export { defineTool } from './define-tool.ts';
export type { InputSchema } from './input-schema.ts';
export { InvalidToolError } from './invalid-tool-error.ts';
export type { FromJsonSchema, JsonSchemaInput } from './json-schema-input.ts';
export type { EndedCall, NestedCall, PreparedCall, PrepareOptions, ReadyCall, WaitingCall } from './prepare-call.ts';
export { findArgsProblem, prepareCall, withArgs } from './prepare-call.ts';
export type { ProviderToolOptions } from './provider-tool.ts';
export { providerTool } from './provider-tool.ts';
export { runCall } from './run-call.ts';
export type { RunCallOptions } from './run-call-options.ts';
export type { Parsed, SchemaIssue } from './schema-issue.ts';
export { issuesText } from './schema-issue.ts';
export type { StandardJsonSchema, StandardResult, StandardSchema } from './standard-schema.ts';
export type { ClientTool, FunctionTool, ModelOutput, NestedTool, OfferedAs, Reconciled, ShownCall, Tool } from './tool.ts';
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
export type { ValueSchema } from './value-schema.ts';
