export type { EventSink, ProblemReporter } from '../events/index.ts';
export type { Clock, IdSource } from '../lib/index.ts';
export { systemClock, systemIds } from '../lib/index.ts';
export type { Codec } from '../serialization/index.ts';
export type {
  Answer,
  Commit,
  Cost,
  EffectOptions,
  EffectResult,
  Effects,
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
export {
  createDirectEffects,
  createRunControl,
  createStateCodec,
  createStepByStep,
  LateResultError,
  RunState,
  standardCriteria,
} from '../step-by-step/index.ts';
