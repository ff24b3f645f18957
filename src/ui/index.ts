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
export type { AgentActions, ShownWait, ViewGrant } from './connect/actions.ts';
export type { AgentSnapshot, AgentViewOptions, LiveAgentView } from './connect/create-agent-view.ts';
export { createAgentView } from './connect/create-agent-view.ts';
export type { PageChannel, PageEnvironment, PageLocks } from './connect/environment.ts';
export type { ConnectionStatus } from './connect/live-connection.ts';
export { RequestFailedError } from './connect/request-failed-error.ts';
export type { GetToken } from './connect/session-api.ts';
