export type { ToolOutput } from '../messages/index.ts';
export type {
  ApprovalContext,
  CallOutcome,
  ClientToolOptions,
  FunctionToolOptions,
  ModelOutput,
  PreparedCall,
  ReconcileContext,
  Reconciled,
  RunCallsOptions,
  StandardSchema,
  ToolExecution,
} from '../tools/index.ts';
export { InvalidToolError, prepareCall, rejectedExecution, runCalls, supersededExecution, toolMessages, ToolSet } from '../tools/index.ts';
