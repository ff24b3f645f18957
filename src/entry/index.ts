export { EffectClass } from '../effects/index.ts';
export type { Agent, AgentEvent, AgentOptions, AgentStep, CanSerializeAgentState, SlimPayload } from '../agent/index.ts';
export { AgentBuilder, AgentState, createAgent, SlimAgentStateSerializer, SlimSerializationConfig } from '../agent/index.ts';
export type {
  CanDecideToContinue,
  CanExplainContinuation,
  ContinuationCriterion,
  Findings,
  StopReasonDescription,
} from '../continuation/index.ts';
export {
  canContinueWith,
  ContinuationCriteria,
  ContinuationDecision,
  ContinuationEvaluation,
  ContinuationOutcome,
  CumulativeExecutionTimeLimit,
  describeStopReason,
  ErrorPolicyCriterion,
  ErrorPresenceCheck,
  ExecutionTimeLimit,
  FinishReasonCheck,
  RetryLimit,
  StepsLimit,
  StopReason,
  stopWhen,
  TokenUsageLimit,
  ToolCallPresenceCheck,
  when,
} from '../continuation/index.ts';
export type { CanResolveErrorContext, ErrorPolicyOptions, Failure } from '../errors/index.ts';
export {
  AgentErrorContextResolver,
  ClassifiedError,
  DamagedDataError,
  describeErrorType,
  ErrorContext,
  ErrorHandlingDecision,
  ErrorPolicy,
  ErrorType,
  InvalidArgumentError,
  ModelFailedError,
  RateLimitedError,
  SteplineError,
  TimedOutError,
  ToolFailedError,
  ValidationFailedError,
} from '../errors/index.ts';
export type { EventBus } from '../events/index.ts';
export { BaseEvent, createEventBus, logEvents } from '../events/index.ts';
export type { Capability, Hook } from '../hooks/index.ts';
export { HookApplied, HookReported, ToolCallBlocked } from '../hooks/index.ts';
export type { Model, PriceSource } from '../inference/index.ts';
export { FinishReason, pricesFrom, priceTable, withFallback, withModelLimits, withModelSettings } from '../inference/index.ts';
export type { Json, JsonObject, Redactor } from '../lib/index.ts';
export { createRedactor } from '../lib/index.ts';
export type { MessageContent, Part, ToolCall, ToolResult } from '../messages/index.ts';
export { Message, MessageRole, Messages, MessageStore, SectionName, Usage } from '../messages/index.ts';
export { NewerSchemaError, WrongKindError } from '../serialization/index.ts';
export type {
  Grant,
  InferContext,
  InferEvent,
  InferOutput,
  InferState,
  Orchestrator,
  Run,
  RunOptions,
  RunResult,
  Step,
  Wait,
} from '../step-by-step/index.ts';
export {
  AgentExecutionStarted,
  AgentFailed,
  AgentFinished,
  AgentStateUpdated,
  AgentStepCompleted,
  AgentStepStarted,
  AlreadyAnsweredError,
  MessageRefusedError,
  ContinuationEvaluated,
  describeStatus,
  ExecutionStatus,
  NotWaitingError,
  RetryScheduled,
  RunState,
  StateInfo,
  StepResult,
  TokenUsageReported,
} from '../step-by-step/index.ts';
export type { Driver, ToolEvent, ToolUseStep } from '../tool-use/index.ts';
export {
  defineCapability,
  defineHook,
  InferenceStarted,
  ModelFallback,
  ModelSkipped,
  reActDriver,
  ReasoningDelta,
  TextDelta,
  ToolApprovalRequested,
  ToolCallCompleted,
  toolCallingDriver,
  ToolCallProgress,
  ToolCallStarted,
  ToolUse,
  ToolUseState,
} from '../tool-use/index.ts';
export type { ClientTool, ContextType, FunctionTool, Tool, ToolContext, ToolInput, Tools } from '../tools/index.ts';
export { defineClientTool, defineContext, defineTool, providerTool, ToolExecutions } from '../tools/index.ts';
