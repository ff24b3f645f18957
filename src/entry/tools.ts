export type { ToolOutput } from '../messages/index.ts';
export type {
  ApprovalContext,
  CallOutcome,
  ClientTool,
  ClientToolOptions,
  FunctionToolOptions,
  ModelOutput,
  PreparedCall,
  ReconcileContext,
  Reconciled,
  RunCallsOptions,
  StandardSchema,
  ToolExecution,
  ToolInput,
} from '../tools/index.ts';
export { InvalidToolError, prepareCall, rejectedExecution, runCalls, supersededExecution, toolMessages, ToolSet } from '../tools/index.ts';
