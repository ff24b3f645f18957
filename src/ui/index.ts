export type { AgentView, ViewGap } from './agent-view.ts';
export { createView } from './agent-view.ts';
export type { ActionReceipt, AgentActions, ShownWait, ViewGrant } from './connect/actions.ts';
export type { AgentViewOptions, LiveAgentView } from './connect/create-agent-view.ts';
export { createAgentView } from './connect/create-agent-view.ts';
export type { PageChannel, PageEnvironment, PageLocks } from './connect/environment.ts';
export type { ConnectionStatus } from './connect/live-connection.ts';
export { RequestFailedError } from './connect/request-failed-error.ts';
export type { AgentSnapshot } from './connect/view-holder.ts';
export type { ViewClocks } from './derive-clocks.ts';
export type { ViewWait } from './derive-waits.ts';
export type { ViewWhy } from './derive-why.ts';
export type {
  AssistantViewMessage,
  StatusViewMessage,
  ToolViewMessage,
  UserViewMessage,
  ViewApproval,
  ViewMessage,
  ViewToolCall,
} from './message.ts';
export { StatusType } from './message.ts';
export type { Meter, StepDecision, ViewEvaluation } from './meters.ts';
export { fillGap, fillPayload, reconcile, reduce, reduceAll } from './reduce.ts';
export type { SessionSnapshot } from './view-state.ts';
