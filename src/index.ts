export type {
  Agent,
  AgentEvent,
  AgentCapability,
  AgentDescription,
  AgentOptions,
  AgentStep,
  SlimMessage,
  SlimPayload,
  SlimSerializationOptions,
  SlimSerializerOptions,
  SlimStep,
  SlimWait,
} from './agent/index.ts';
export {
  AgentBuilder,
  AgentState,
  createAgent,
  SlimAgentState,
  SlimAgentStateSerializer,
  SlimNotResumableError,
  SlimOmission,
  SlimSerializationConfig,
} from './agent/index.ts';
export type { ContinuationCriterion, DecidingCriterion, ExplainedDecision, ExplainingCriterion } from './continuation/index.ts';
export {
  ContinuationCriteria,
  ContinuationDecision,
  ContinuationEvaluation,
  ContinuationOutcome,
  CriterionFailedError,
  StopReason,
  stopWhen,
  when,
} from './continuation/index.ts';
export type { Backoff, ClassifiedErrorOptions, ErrorContextResolver, ErrorHandling, Failure, ToolErrorRule } from './errors/index.ts';
export {
  ClassifiedError,
  classifyError,
  DamagedDataError,
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
} from './errors/index.ts';
export type { EventBus, EventHeader, EventSink, ProblemReporter, Unsubscribe } from './events/index.ts';
export { BaseEvent, createEventBus } from './events/index.ts';
export type {
  Model,
  ModelDelta,
  ModelLimitOptions,
  ModelLimits,
  ModelNotice,
  ModelOutcome,
  ModelRequest,
  ModelResponse,
  ModelSettings,
  ModelTimeouts,
  OfferedTool,
  Price,
  PriceOf,
  TokenPrices,
  ToolChoice,
} from './inference/index.ts';
export {
  ContextOverflowError,
  createModelLimits,
  EmptyResponseError,
  FinishReason,
  limited,
  pricesFrom,
  priceTable,
  StreamInterruptedError,
  withFallback,
  withModelSettings,
  withTimeouts,
} from './inference/index.ts';
export type { Capability, GuardHookOptions, Hook, HookChange, HookFacts, HookOptions, Vote } from './hooks/index.ts';
export { guardHook, HookApplied, HookFailedError, HookPoint, HookReported, ToolCallBlocked } from './hooks/index.ts';
export type { Clock, IdSource, Json, JsonObject, Redactor, RedactorOptions } from './lib/index.ts';
export { createIdSource, createRedactor, systemClock, systemIds } from './lib/index.ts';
export type { MessageContent, MessageOptions, Part, ToolCall, ToolOutput, ToolResult, ToolSchema } from './messages/index.ts';
export { Message, MessageRole, Messages, MessageStore, SectionName, Usage } from './messages/index.ts';
export { NewerSchemaError, WrongKindError } from './serialization/index.ts';
export type {
  CompletedResult,
  Cost,
  Execution,
  FailedResult,
  Grant,
  InferContext,
  InferEvent,
  InferOutput,
  InferState,
  Limits,
  LoopEvent,
  Orchestrator,
  Ports,
  Run,
  RunOptions,
  RunResult,
  StateType,
  StoppedResult,
  Wait,
  WaitingResult,
} from './step-by-step/index.ts';
export {
  AgentExecutionStarted,
  AgentFailed,
  AgentFinished,
  AgentStateUpdated,
  AgentStepCompleted,
  AgentStepStarted,
  AlreadyAnsweredError,
  ContinuationEvaluated,
  ExecutionStatus,
  LateResultError,
  NotWaitingError,
  RetryScheduled,
  StateInfo,
  StepResult,
  TokenUsageReported,
} from './step-by-step/index.ts';
export type {
  Answered,
  AnswerFacts,
  CallAnswer,
  Driver,
  Instructions,
  Question,
  ReActOptions,
  ToolEvent,
  ToolUseEvent,
  ToolUseLimits,
  ToolUseOptions,
  ToolUseStep,
  Turn,
} from './tool-use/index.ts';
export {
  defineCapability,
  defineHook,
  InferenceStarted,
  ModelFallback,
  reActDriver,
  ReasoningDelta,
  StepType,
  TextDelta,
  ToolApprovalRequested,
  ToolCallCompleted,
  toolCallingDriver,
  ToolCallProgress,
  ToolCallStarted,
  ToolUse,
  ToolUseState,
} from './tool-use/index.ts';
export type { ClientTool, ContextType, FunctionTool, Tool, ToolContext, Tools } from './tools/index.ts';
export { contextOf, defineTool, InvalidToolError, providerTool, ToolEffect } from './tools/index.ts';
