export type {
  Agent,
  AgentEvent,
  AgentInput,
  AgentOptions,
  AgentRun,
  AgentRunOptions,
  AgentTypesOf,
  AnyAgent,
  AnyRun,
  AnyRunOptions,
  OutputOf,
} from './agent.ts';
export { createAgent } from './agent.ts';
export { AgentBuilder } from './agent-builder.ts';
export type { AgentResult, CompletedResult, FailedResult, StoppedResult, WaitingResult } from './agent-result.ts';
export { AgentState } from './agent-state.ts';
export type { AgentCapability, AgentTypes, TypesOf } from './agent-types.ts';
export type { AgentDescription, DescribedHook, DescribedTool } from './describe.ts';
export type { ToolUseStep as AgentStep } from '../tool-use/index.ts';
