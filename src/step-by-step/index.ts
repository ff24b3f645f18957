export { AlreadyAnsweredError } from './already-answered-error.ts';
export { resolveErrorContexts, stateErrors } from './error-contexts.ts';
export type { Execution, Findings } from './execution.ts';
export type { ExplainStateOptions } from './explain-state.ts';
export { readFailure } from './read-failure.ts';
export type { Grant } from './grant.ts';
export { checkedGrant } from './grant.ts';
export type { EndFacts, LoopEvent, RetryFacts, StartFacts } from './loop-events.ts';
export {
  AgentExecutionStarted,
  AgentFailed,
  AgentFinished,
  AgentStateUpdated,
  AgentStepCompleted,
  AgentStepStarted,
  ContinuationEvaluated,
  OrchestratorEvent,
  RetryScheduled,
  TokenUsageReported,
} from './loop-events.ts';
export type { NestOptions, OuterStep, Spent } from './outer-step.ts';
export { NotWaitingError } from './not-waiting-error.ts';
export type { RunControl } from './run-control.ts';
export { createRunControl } from './run-control.ts';
export { canBegin } from './can-begin.ts';
export type { Between, Commit, Ports, RunOptions } from './run-scope.ts';
export type { ForkOptions, NewStateOptions, RunStateData, SessionSummary } from './run-state.ts';
export { RunState } from './run-state.ts';
export { settledAs } from './run-stream.ts';
export type { Run, RunArgs, Runnable } from './runnable.ts';
export type { Limits, StandardCriteriaOptions } from './standard-criteria.ts';
export { standardCriteria } from './standard-criteria.ts';
export type { StepFieldsCodec } from './codec/step-codec.ts';
export type { StateCodec, StateCodecOptions } from './state-codec.ts';
export { createStateCodec } from './state-codec.ts';
export { StateInfo } from './state-info.ts';
export { ExecutionStatus } from './status.ts';
export type { Cost, EmptyStep, Step } from './step.ts';
export { addCost, Interruption } from './step.ts';
export { createStepByStep } from './step-by-step.ts';
export type { Observed, Produced, StepOf, StepProcess, StepScope } from './step-process.ts';
export type { StepNote } from './step-notes.ts';
export type { RecordedHandling, StepTiming } from './step-result.ts';
export { StepResult } from './step-result.ts';
export type { Answer, PendingStep, Wait } from './waiting.ts';
export { givenValue } from './waiting.ts';
// What the signatures above are made of.
export type { EffectFailure, EffectOptions, EffectResult, Effects, LeaveRequest, SleepOptions, SleepResult } from '../effects/index.ts';
export { createDirectEffects, EffectClass, LateResultError, UnencodableValueError } from '../effects/index.ts';
export type { AppendOnlyList, ObjectReader, Random } from '../lib/index.ts';
export type { Codec, EncodeOptions, Envelope } from '../serialization/index.ts';
