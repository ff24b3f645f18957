export type { CoolDowns } from '../inference/index.ts';
export type { EffectOptions, EffectResult, Effects } from '../effects/index.ts';
export { createDirectEffects, LateResultError } from '../effects/index.ts';
export type { EventSink, ProblemReporter } from '../events/index.ts';
export type { Clock, IdSource } from '../lib/index.ts';
export { systemClock, systemIds } from '../lib/index.ts';
export type { Codec } from '../serialization/index.ts';
export type {
  Answer,
  Commit,
  EngineOptions,
  Cost,
  Execution,
  Limits,
  LoopEvent,
  Orchestrator,
  OrchestratorOptions,
  PendingStep,
  Ports,
  ProducedStep,
  Run,
  RunOptions,
  RunResult,
  StandardCriteriaOptions,
  StateCodec,
  StateLines,
  StateType,
  Step,
  StepByStep,
  StepByStepOptions,
  StepProcess,
  StepScope,
} from '../step-by-step/index.ts';
export {
  createOrchestrator,
  createRunControl,
  createStateCodec,
  createStepByStep,
  RunState,
  standardCriteria,
} from '../step-by-step/index.ts';
