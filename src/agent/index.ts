export type { Agent, AgentEvent, AgentOptions } from './agent.ts';
export { createAgent } from './agent.ts';
export { AgentBuilder } from './agent-builder.ts';
export { AgentState } from './agent-state.ts';
export type { AgentCapability } from './agent-capability.ts';
export type { AgentDescription, DescribedHook, DescribedTool } from './describe.ts';
export type { ToolUseStep as AgentStep } from '../tool-use/index.ts';
export type { SlimSerializerOptions } from './slim/slim-agent-state-serializer.ts';
export { SlimAgentStateSerializer } from './slim/slim-agent-state-serializer.ts';
export { SlimAgentState } from './slim/slim-agent-state.ts';
export { SlimNotResumableError } from './slim/slim-not-resumable-error.ts';
export type {
  SlimAttachment,
  SlimContinuation,
  SlimEvaluation,
  SlimExecution,
  SlimFailure,
  SlimMessage,
  SlimOmitted,
  SlimPayload,
  SlimStep,
  SlimStepCall,
  SlimToolCall,
  SlimToolResult,
  SlimUsage,
  SlimWait,
} from './slim/slim-payload.ts';
export { SlimOmission } from './slim/slim-payload.ts';
export type { SlimSerializationOptions } from './slim/slim-serialization-config.ts';
export { SlimSerializationConfig } from './slim/slim-serialization-config.ts';
