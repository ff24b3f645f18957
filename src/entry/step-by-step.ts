export type { EffectOptions, EffectResult, Effects } from '../effects/index.ts';
export { createDirectEffects, LateResultError } from '../effects/index.ts';
export type { EventSink, ProblemReporter } from '../events/index.ts';
export type { Clock, IdSource } from '../lib/index.ts';
export { systemClock, systemIds } from '../lib/index.ts';
export type { Codec } from '../serialization/index.ts';
export type {
  Answer,
  Commit,
  Cost,
  Execution,
  Grant,
  Limits,
  LoopEvent,
  PendingStep,
  Ports,
  Produced,
  Run,
  RunOptions,
  StandardCriteriaOptions,
  StateCodec,
  Step,
  StepProcess,
  StepScope,
} from '../step-by-step/index.ts';
export { createRunControl, createStateCodec, createStepByStep, RunState, standardCriteria } from '../step-by-step/index.ts';
