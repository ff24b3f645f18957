export { classifyError } from '../errors/index.ts';
export type {
  Model,
  ModelDelta,
  ModelNotice,
  ModelOutcome,
  ModelRequest,
  ModelResponse,
  ModelSettings,
  ModelTimeouts,
  OfferedTool,
  Price,
  TokenPrices,
} from '../inference/index.ts';
export {
  ContextOverflowError,
  createModelLimits,
  createResponseBuilder,
  EmptyResponseError,
  MalformedResponseError,
  findPendingToolCalls,
  StreamInterruptedError,
  toFinishReason,
  toUsage,
  withTimeouts,
} from '../inference/index.ts';
