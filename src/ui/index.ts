export type { AgentView, ViewClocks, ViewGap, ViewWhy } from './agent-view.ts';
export { createView } from './agent-view.ts';
export type { ViewWait } from './derive-waits.ts';
export type { ViewUsage } from './execution-facts.ts';
export type {
  AssistantViewMessage,
  StatusViewMessage,
  ToolViewMessage,
  UserViewMessage,
  ViewApproval,
  ViewAuthor,
  ViewContinuation,
  ViewMessage,
  ViewRetry,
  ViewToolCall,
} from './message.ts';
export { StatusType } from './message.ts';
export type { Meter, StepDecision, ViewEvaluation } from './meters.ts';
export type { TextGap } from './open-text.ts';
export { fillGap, fillPayload, reconcile, reduce, reduceAll } from './reduce.ts';
export type { SessionSnapshot } from './view-state.ts';
