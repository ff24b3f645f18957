export type { ToolOutput } from '../messages/index.ts';
export type {
  ApprovalContext,
  ClientToolOptions,
  FunctionToolOptions,
  ModelOutput,
  PreparedCall,
  ReconcileContext,
  Reconciled,
  StandardSchema,
  ToolExecution,
} from '../tools/index.ts';
export { InvalidToolError, prepareCall, rejectedExecution, runCall, supersededExecution, toolMessages, ToolSet } from '../tools/index.ts';
