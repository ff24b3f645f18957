export type { OfferedTool, ProviderTool, ReportedUsage } from '../messages/index.ts';
export { toUsage } from '../messages/index.ts';
export { findPendingToolCalls } from './answer-calls.ts';
export { checkModel } from './check-model.ts';
export type { ConversationRequest, OpenRequest } from './conversation.ts';
export { askAbout, Conversation, readConversations } from './conversation.ts';
export type { CoolDowns, RowMember } from './cool-down.ts';
export { applyRoute, listCoolingDown, sortByCoolDown, toRow } from './cool-down.ts';
export { ContextOverflowError } from './context-overflow-error.ts';
export { EmptyResponseError } from './empty-response-error.ts';
export { withFallback } from './fallback.ts';
export { FinishReason, toFinishReason } from './finish-reason.ts';
export { withModelLimits } from './with-model-limits.ts';
export { createModelLimits } from './model-limits.ts';
export { MalformedResponseError } from './malformed-response-error.ts';
export type { ModelSettings, ToolChoice } from './model-settings.ts';
export { checkSettings } from './model-settings.ts';
export type {
  Model,
  ModelDelta,
  ModelNotice,
  ModelOutcome,
  ModelRequest,
  ModelResponse,
  ModelRoute,
  ModelTimeouts,
  OutputFormat,
} from './model.ts';
export { parseOutcome } from './parse-outcome.ts';
export type { Price, PricedModel, PriceSource, TokenPrices } from './price.ts';
export { pricesFrom, priceTable } from './price.ts';
export type { ResponseBuilder } from './response-builder.ts';
export { createResponseBuilder } from './response-builder.ts';
export type { FoundAttachment, RefusedPart } from './refused-parts.ts';
export { addRefusedParts, findAttachments, keepOnly, leaveOutRefused } from './refused-parts.ts';
export type { AgentDefinition, KnownView, RecordedOutcome, RequestRecorder, StoredRequest } from './sent-request.ts';
export { omitHeaders, withSent } from './sent-request.ts';
export { abortedFailure } from './settle-answer.ts';
export { StreamInterruptedError } from './stream-interrupted-error.ts';
export { withTimeouts } from './timeouts.ts';
export { withModelSettings } from './with-model-settings.ts';
