export { describeStatus } from './describe-status.ts';
export { AlreadyAnsweredError } from './already-answered-error.ts';
export { MessageRefusedError } from './message-refused-error.ts';
export { Supersession } from './supersession.ts';
export { canBegin, ExecutionStatus, getJudgingTime } from './execution.ts';
export type { StepFieldsCodec } from './codec/step-codec.ts';
export type { OrchestratorOptions } from './create-orchestrator.ts';
export { createOrchestrator } from './create-orchestrator.ts';
export type { CrashLoop, Execution } from './execution.ts';
export type { ExplainStateOptions } from './explain-state.ts';
export type { DecisionOptions, Grant } from './grant.ts';
export { parseGrant } from './grant.ts';
export type { LoopEvent } from './loop-events.ts';
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
  toEventWait,
  TokenUsageReported,
} from './loop-events.ts';
export { NotWaitingError } from './not-waiting-error.ts';
export type { InferContext, InferEvent, InferOutput, InferState, Orchestrator, Run, StateType, StepByStep } from './orchestrator.ts';
export type { OuterStep, Spent, WaitingTime } from './outer-step.ts';
export { withInnerName } from './outer-step.ts';
export { readFailure } from './read-failure.ts';
export { readAnswer } from './read-waiting.ts';
export type { RunControl } from './run-control.ts';
export { createRunControl } from './run-control.ts';
export type { CompletedResult, FailedResult, OutputReading, RunResult, RunResultBase, StoppedResult } from './run-result.ts';
export { getEndFailure, redactFailure, toRunResult } from './run-result.ts';
export type { Between, Commit, EngineOptions, OutageRule, Ports, RunOptions } from './run-options.ts';
export type { NewStateOptions } from './run-state.ts';
export { RunState } from './run-state.ts';
export type { Limits, StandardCriteriaOptions } from './standard-criteria.ts';
export { requestedCriteria, standardCriteria } from './standard-criteria.ts';
export type { StateLines } from './codec/lines.ts';
export { hasLines, splitLines } from './codec/lines.ts';
export type { StateCodec } from './state-codec.ts';
export { createStateCodec } from './state-codec.ts';
export type { StateGaps } from './state-gaps.ts';
export { StateInfo } from './state-info.ts';
export type { StepByStepOptions } from './step-by-step.ts';
export { createStepByStep } from './step-by-step.ts';
export type { Observed, ProducedStep, StepOf, StepProcess } from './step-process.ts';
export type { StepScope } from './step-scope.ts';
export { StepResult } from './step-result.ts';
export type { CallSummary, StepSummary } from './step-summary.ts';
export type { Cost, EmptyStep, Step } from './step.ts';
export { addCost, Interruption } from './step.ts';
export type { AskedCall } from './wait-digest.ts';
export { getWaitDigest, toAskedCall, toBoundValue } from './wait-digest.ts';
export type { Answer, PendingStep, Wait } from './waiting.ts';
export { parseValue } from './waiting.ts';
