export type { ExplainedDecision, ExplainOptions, LimitOptions } from '../continuation/index.ts';
export {
  AtLimit,
  CostLimit,
  CriterionFailedError,
  Finalize,
  PendingRetry,
  RepeatedToolCall,
  ResponseContentCheck,
  StopOnFinalDecision,
  StopRequested,
} from '../continuation/index.ts';
