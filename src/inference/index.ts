export { ContextOverflowError } from './context-overflow-error.ts';
export { EmptyResponseError } from './empty-response-error.ts';
export { withFallback } from './fallback.ts';
export { FinishReason, toFinishReason } from './finish-reason.ts';
export { limited } from './limited.ts';
export type {
  Model,
  ModelDelta,
  ModelNotice,
  ModelOutcome,
  ModelRequest,
  ModelResponse,
  ModelTimeouts,
  OfferedTool,
  OutputFormat,
  ProviderTool,
} from './model.ts';
export { createModelLimits } from './model-limits.ts';
export type { ModelSettings, ToolChoice } from './model-settings.ts';
export { pendingToolCalls } from './pending-tool-calls.ts';
export type { Price, PricedModel, PriceOf, TokenPrices } from './price.ts';
export { pricesFrom, priceTable } from './price.ts';
export type { ReportedUsage } from './reported-usage.ts';
export { toUsage } from './reported-usage.ts';
export type { ResponseBuilder } from './response-builder.ts';
export { createResponseBuilder } from './response-builder.ts';
export { abortedFailure } from './settle-answer.ts';
export { StreamInterruptedError } from './stream-interrupted-error.ts';
export { withTimeouts } from './timeouts.ts';
export { withModelSettings } from './with-model-settings.ts';
