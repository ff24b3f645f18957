export type { ToolOutput } from '../messages/index.ts';
export type {
  ApprovalContext,
  ClientToolOptions,
  FunctionToolOptions,
  ModelOutput,
  PreparedCall,
  ReconcileContext,
  ReconcileResult,
  StandardSchema,
  ToolExecution,
} from '../tools/index.ts';
export {
  InvalidToolError,
  prepareCall,
  toRejectedExecution,
  runCall,
  toSupersededExecution,
  toToolMessages,
  ToolSet,
} from '../tools/index.ts';
