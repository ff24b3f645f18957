export type { ApprovalScope } from './approval-scope.ts';
export { toAnsweredExecution } from './answered-execution.ts';
export { clipText } from './clip-text.ts';
export { defineClientTool } from './define-client-tool.ts';
export { defineTool } from './define-tool.ts';
export { describeTool } from './describe-tool.ts';
export { InvalidToolError } from './invalid-tool-error.ts';
export type { EndedCall, NestedCall, PreparedCall, WaitingCall } from './prepare-call.ts';
export { findArgsProblem, findSchemaChange, prepareCall, withArgs } from './prepare-call.ts';
export { unknownToolText } from './tool-name.ts';
export { providerTool } from './provider-tool.ts';
export { recallCall, runCall } from './run-call.ts';
export { issuesText } from './schema-issue.ts';
export type { StandardResult, StandardSchema } from './standard-schema.ts';
export type { ApprovalContext, ContextType, ReconcileContext, ToolContext } from './tool-context.ts';
export { defineContext } from './tool-context.ts';
export type { ToolExecution, ToolExecutionStatus } from './tool-execution.ts';
export { ToolExecutions } from './tool-executions.ts';
export {
  blockedCode,
  toBlockedExecution,
  toCancelledExecution,
  toFailedExecution,
  toRejectedExecution,
  toSucceededExecution,
  toSupersededExecution,
  toToolMessages,
  toUnknownExecution,
} from './tool-execution.ts';
export type { AfterParsing, ArgsOf, ToolInput } from './tool-input.ts';
export type { ClientToolOptions, FunctionToolOptions } from './tool-options.ts';
export type { ContextNeeded, Tools } from './tool-set.ts';
export { ToolSet } from './tool-set.ts';
export type { ToolName, ToolResultValue } from './tool-types.ts';
export type {
  ArgsProblem,
  ClientTool,
  DescribedTool,
  FunctionTool,
  ModelOutput,
  NestedTool,
  ReconcileResult,
  ShownCall,
  Tool,
} from './tool.ts';
export type { AnswerSchema } from './value-schema.ts';
export { toAnswerSchema } from './value-schema.ts';
